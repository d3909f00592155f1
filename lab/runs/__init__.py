"""A run as it lies on disk, and the machine that it was made on."""
