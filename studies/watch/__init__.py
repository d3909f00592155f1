"""How exact the figures of `lab watch` are, and what it costs the server that it watches."""
