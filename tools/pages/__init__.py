"""
Bring the documentation up to what is stored: `.venv/bin/python -m tools.pages`.

So no figure in it is typed by hand. `tools.pages.directives` says how a page asks for one.
"""
