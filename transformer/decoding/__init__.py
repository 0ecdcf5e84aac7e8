"""Search for a translation: greedy and beam search, steered and recorded (§6.1)."""

from transformer.decoding.beam import BeamSearch, beam_search, greedy
from transformer.decoding.constraints import Constraints
from transformer.decoding.hypothesis import (
    ALPHA,
    BEAM_SIZE,
    MAX_EXTRA,
    NEVER_WRITTEN,
    Hypothesis,
    Node,
    SearchTree,
    length_penalty,
)

__all__ = [
    "ALPHA",
    "BEAM_SIZE",
    "MAX_EXTRA",
    "NEVER_WRITTEN",
    "BeamSearch",
    "Constraints",
    "Hypothesis",
    "Node",
    "SearchTree",
    "beam_search",
    "greedy",
    "length_penalty",
]
