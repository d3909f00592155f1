"""The page that lints, completes and translates a configuration in the browser."""
