"""The Inside page and all its parts."""

from viz.pages.inside.page import show

__all__ = ["show"]
