"""Checkpoint folders: our own format, MarianMT folders."""
