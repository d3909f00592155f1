"""`lab run`: the comparison itself."""
