"""Both functions on the sentence, their costs, and the scale, as the page draws them."""

import json
import math

import numpy as np
import pytest
import torch

from tests.transformer.checkpoints.marian.marian_folder import english_german_folder
from tests.viz.app_test import texts
from tests.viz.pages.reading import SENTENCE, frames, html
from tests.viz.plotly_values import map_values
from transformer.paper import additive
from viz.app import measurements
from viz.pages.additive import VIEWS

KIND, LAYER, HEAD = "encoder", 1, 2
PLACE = {"kind": KIND, "layer": str(LAYER + 1), "head": str(HEAD + 1)}


def maps(app, number: int) -> np.ndarray:
    (chart,) = app.get("plotly_chart")
    return map_values(chart.proto.spec, number)


def cache(translator, *edits):
    trace = translator.trace(SENTENCE)
    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    return translator.model.run_with_cache(source, torch.tensor([[1]]))[1]
