"""Faults that production must survive, planted in the real stack; who asks meanwhile."""
