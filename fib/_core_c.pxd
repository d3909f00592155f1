# The C types of fib/_core.py, for the build named fib._core_c. A cdef name is not visible from
# Python, so tests/fib can tell whether this file was used: without it everything still compiles,
# untyped and slower, and says nothing.
#
# No boundscheck=False, no wraparound=False: nothing was gained by them, and a negative index
# became a segmentation fault. No __int128 either: turning it into Python integers costs more than
# the additions it saves.

cimport cython

@cython.locals(sequence=list)
cpdef list loop(number)

cpdef list get(number)

cpdef bytes get_json(number)

cpdef Py_ssize_t last_index(number) except -1

@cython.locals(a=cython.ulonglong, b=cython.ulonglong)
cdef int _append_u64(list sequence, unsigned long long number) except -1

cdef int _append_big(list sequence, number) except -1

@cython.locals(k=Py_ssize_t)
cdef Py_ssize_t _last(number) except -1

cdef list _TABLE
cdef list _ENDS
cdef list _STARTS
cdef bytes _TEXT
