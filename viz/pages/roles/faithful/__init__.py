"""The view “Faithful?”: what a lens tells is checked by erasing words."""

from viz.pages.roles.faithful.view import show

__all__ = ["show"]
