"""
The nouns: what is run, what is measured, what is concluded.

Nothing here does I/O and everything here is immutable. Quantities are SI base units - seconds,
bytes, requests per second - and are scaled only where they are printed. A quantity that could not
be read is absent, never 0.
"""
