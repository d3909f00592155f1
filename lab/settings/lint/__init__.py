"""What is wrong with a configuration: what a rule reads (`config`), and what it finds (`flaw`)."""
