"""Views of a page, and the one way from a view to a number."""

from viz.app.jobs import Offer
from viz.app.view.compute import (
    Job,
    NothingToDrawError,
    cached,
    compute,
    compute_in_job,
    compute_on_request,
    figure,
    list_call,
    list_file,
    list_result,
    name_model,
    part,
)
from viz.app.view.listing import Content
from viz.app.view.page import Page, View, controls, findings_row, program, view

__all__ = [
    "Content",
    "Job",
    "NothingToDrawError",
    "Offer",
    "Page",
    "View",
    "cached",
    "compute",
    "compute_in_job",
    "compute_on_request",
    "controls",
    "figure",
    "findings_row",
    "list_call",
    "list_file",
    "list_result",
    "name_model",
    "part",
    "program",
    "view",
]
