"""hypercorn: the options of its command, and the names of its file in TOML or Python."""
