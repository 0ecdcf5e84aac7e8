"""The parts of the page on the inside of a head."""
