"""The Training page and all its parts."""

from viz.pages.training.page import TITLE, show

__all__ = ["TITLE", "show"]
