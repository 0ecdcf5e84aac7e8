"""Measurements of python -m training.evaluate."""
