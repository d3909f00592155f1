"""
What options mean, whichever server they are for, and how another server is told the same.

`senses.toml`, `gone.toml` and `hidden.toml` hold what is known. A further server is one column in
each, and one module beside `of_uwsgi.py` that reads and writes what is no table.
"""
