"""Programs that measure the lab and the service themselves; each says in its head how it is run."""
