"""The parts of the positions page."""
