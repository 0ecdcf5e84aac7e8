"""What one head does: where it looks, its role, and what changes when it is taken away."""
