"""Views of a page, and the one way from a view to a number."""

from viz.app.view.compute import Job, cached, compute, compute_in_job, figure, list_result, part
from viz.app.view.page import Page, View, controls, view

__all__ = [
    "Job",
    "Page",
    "View",
    "cached",
    "compute",
    "compute_in_job",
    "controls",
    "figure",
    "list_result",
    "part",
    "view",
]
