"""uvicorn: the options of its command, and of its variables."""
