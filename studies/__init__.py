"""
Research about the lab and about what others have published; no part of the product.

`articles` has the claims of five articles, and decides them by stored runs and tests. The programs
beside it measure the lab and the service; the docstring of each says how it is run. `results` has
what they stored, and `pages` writes it into the documentation. They use the lab as anybody may, and
the lab imports none of them.
"""
