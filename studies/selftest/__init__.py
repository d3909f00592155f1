"""The lab put to the test: faults planted on purpose, and what it says of them."""
