"""Tools for this checkout; no part of the product."""
