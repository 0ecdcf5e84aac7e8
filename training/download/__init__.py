"""Download of the public training texts."""
