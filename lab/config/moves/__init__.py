"""
Moves: one setting of a profile, or its load, or its workload, changed.

A counter-run puts a cause to the test by a move. It is said in meanings, and the vocabulary knows
how a server is told them, as for `lab tune`. A move is a function of an arm; it returns None where
the arm leaves nothing to change. To add one, add a file, and name the function where it is used: in
its cause (`lab.analysis.causes`).
"""
