"""The Architecture page and all its parts."""

from viz.pages.architecture.page import show

__all__ = ["show"]
