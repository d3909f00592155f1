"""Runs servers under load, and stores what was measured."""
