"""Run folders on disk, and the machine that they were made on."""
