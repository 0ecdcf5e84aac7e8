"""The Positions page and all its parts."""

from viz.pages.positions.page import TITLE, show

__all__ = ["TITLE", "show"]
