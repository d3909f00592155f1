"""Inis of a generator: sections, conditions, loops, includes and variables, in any order."""

from hypothesis import strategies as st

NAMES = st.sampled_from(
    """processes threads stats env foo bar if-env if-not-env if-opt if-not-opt for for-times endif
    endfor end set-ph set-placeholder include ini inherit if-exists if-file if-dir if-not-dir chdir
    need-app if-reload""".split()  # noqa: SIM905 - a list of words
)
PIECES = st.sampled_from(
    """a 4 = ; # % %% %n %d %x %s %1 %(foo) %(bar) %(_) %(%(foo)) $(HOME) $(BIND) $(NO) HOME foo
    PORT=0 foo= b.ini ( ) é \\ " @ : :other ~ %(foo~+~2) %(foo~bar) %(foo~3~*) %(4~foo~++)
    %(foo~/~0)""".split()  # noqa: SIM905
)
VALUES = st.lists(PIECES, max_size=4).map(lambda pieces: "".join(pieces).replace("~", " "))
LINES = st.one_of(
    st.tuples(NAMES, st.sampled_from([" = ", "=", " =", ": ", ""]), VALUES).map("".join),
    st.sampled_from(["", "; a", " # b", "[other]", "[uwsgi]", "[uwsgi] ; c", "endif =", "endif"]),
)
TEXTS = st.lists(LINES, max_size=9)
"""Lines of one ini."""
