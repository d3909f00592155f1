"""What each server's options mean."""
