"""The Masks page and all its parts."""

from viz.pages.masks.page import TITLE, show

__all__ = ["TITLE", "show"]
