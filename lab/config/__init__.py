"""Server configurations: reads, edits and translates them. Never runs them."""
