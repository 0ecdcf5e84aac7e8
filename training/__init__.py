"""From parallel text to a checkpoint (§5)."""
