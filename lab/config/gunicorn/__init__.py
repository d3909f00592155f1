"""gunicorn: its settings, in its configuration file and in its command."""

PROGRAM = "gunicorn"

BIND = ("--bind", "{host}:{port}")
"""The words of its command that say where it listens."""
