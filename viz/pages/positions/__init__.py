"""The Positions page and all its parts."""

from viz.pages.positions.page import show

__all__ = ["show"]
