"""The Training page and all its parts."""

from viz.pages.training.page import show

__all__ = ["show"]
