"""Lessons beside the pages."""
