"""A script whose name does not tell, as `bin/deploy`: its first line names the shell."""

from lab.config.sources.script import starts

__all__ = ["starts"]

CALLED = r"[\w-]+"

HOLDS = r"\A#!.*\b(?:ba|da|a)?sh\b"
