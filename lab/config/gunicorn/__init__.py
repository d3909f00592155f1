"""gunicorn: its settings, in its configuration file and in its command."""
