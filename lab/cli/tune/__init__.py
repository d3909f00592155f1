"""`lab tune`: better settings of one configuration, proven, or the word that it has them."""
