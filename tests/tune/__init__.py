"""`lab tune`."""
