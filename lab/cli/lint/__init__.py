"""`lab lint`: what is wrong with a configuration, before anything is started."""
