"""Builds the site: the page, its engine, and the documentation."""
