"""Plans, and the trials of a plan in blocks."""
