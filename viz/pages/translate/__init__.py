"""The Translate page and all its parts."""

from viz.pages.translate.page import show

__all__ = ["show"]
