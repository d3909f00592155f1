"""What is wrong with a configuration: rules, what they find, what mends it. Nothing is started."""
