"""Malformed and unusual requests as bytes, what may be answered to each, and who asks them."""
