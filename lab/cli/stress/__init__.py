"""Faults planted in a running server under load, and what its clients felt of each."""
