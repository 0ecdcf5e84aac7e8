"""The parts of the masks page."""
