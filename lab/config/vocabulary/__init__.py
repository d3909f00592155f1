"""
What options mean, whichever server they are for, and how another server is told the same.

`senses.toml`, `gone.toml` and `hidden.toml` hold what is known, with a column for each server. The
`Server` of each server reads and writes what is no table.
"""
