"""The view “Take away”: heads are removed or patched, and what changes is shown."""

from viz.pages.roles.removal.view import show

__all__ = ["show"]
