"""The view “Layer by layer”: what each decoder layer would write."""

from viz.pages.roles.layer_by_layer.view import show

__all__ = ["show"]
