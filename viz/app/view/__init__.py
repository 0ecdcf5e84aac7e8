"""Views of a page, and the one way from a view to a number."""

from viz.app.view.compute import compute, figure, list_result
from viz.app.view.page import Page, View, controls, view

__all__ = ["Page", "View", "compute", "controls", "figure", "list_result", "view"]
