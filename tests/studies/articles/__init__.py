"""The published claims: what decides the facts among them."""
