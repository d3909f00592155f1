"""What the lab takes from the operating system: programs, their environment, folders."""
