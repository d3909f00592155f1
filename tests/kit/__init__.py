"""What the tests of several folders share: plain functions, no fixtures."""
