"""Servers under test: started, checked, stopped."""
