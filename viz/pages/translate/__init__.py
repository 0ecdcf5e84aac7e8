"""The Translate page and all its parts."""

from viz.pages.translate.page import TITLE, show

__all__ = ["TITLE", "show"]
