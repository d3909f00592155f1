"""What loads servers: through Locust, and what is asked of them."""
