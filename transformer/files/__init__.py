"""Atomic writing, bounded reading, and the files that are installed with the program."""
