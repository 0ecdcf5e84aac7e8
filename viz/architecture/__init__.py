"""The parts of the architecture page."""
