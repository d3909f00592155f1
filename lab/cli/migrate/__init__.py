"""`lab migrate`: a configuration of one server as one of another, and what that changes."""
