"""The Inside page and all its parts."""

from viz.pages.inside.page import TITLE, show

__all__ = ["TITLE", "show"]
