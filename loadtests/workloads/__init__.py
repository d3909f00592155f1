"""
What is asked of servers, a TOML each, and the applications that answer, in a folder of its name.

Locust executes each file below loadtests/ whose name does not begin with "_", so theirs does.
"""
