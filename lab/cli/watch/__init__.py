"""`lab watch`: how busy a running server is."""
