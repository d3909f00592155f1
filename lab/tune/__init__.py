"""`lab tune`: better settings for a configuration that is there already."""
