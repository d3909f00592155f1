"""
What options mean, whichever server they are for, and how another server is told the same.

`senses.toml`, `gone.toml` and `hidden.toml` have what servers share. The folder of each server has
the rest: tables in `vocabulary.toml`, and what is no table in the methods of its `Server`.
"""
