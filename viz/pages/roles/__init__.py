"""The page “What heads do” and all its parts."""

from viz.pages.roles.page import show

__all__ = ["show"]
