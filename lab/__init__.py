"""The instrument: puts every profile under load and says what changed, by how much, and why."""
