"""What `lab lint` found, in the forms that people and tools read; and the page of a rule."""
