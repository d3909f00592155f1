"""What the studies say, as pages and directives of the documentation: `tools.pages` writes it."""
