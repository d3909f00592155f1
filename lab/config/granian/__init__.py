"""granian: the options of its command."""
