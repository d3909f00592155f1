"""The linter: what it reads, what it finds, what it mends."""
