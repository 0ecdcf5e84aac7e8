"""Measurements of headlight evaluate."""
