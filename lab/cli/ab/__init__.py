"""`lab ab`: did a new version of an application become slower than the old one?"""
