"""This machine: programs, processes, folders, CPUs."""
