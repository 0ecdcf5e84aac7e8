"""The Masks page and all its parts."""

from viz.pages.masks.page import show

__all__ = ["show"]
