"""Compares web servers under load: which is faster, by how much, how sure that is, and why."""
