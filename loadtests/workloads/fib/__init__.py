"""Applications that answer with the Fibonacci numbers, other than the service."""
