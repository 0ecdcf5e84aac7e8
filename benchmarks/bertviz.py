"""The peer: BertViz's model view, which writes every weight as a decimal number into a page."""

from __future__ import annotations

import time

import torch

from transformer import AttentionTrace, HeadlightError
from transformer.kinds import KINDS

MOST = 128
"""Tokens up to which it is asked: at 512 its page would be near a gigabyte."""


def model_view(trace: AttentionTrace) -> tuple[int, float]:
    """Bytes of the HTML for one trace, and the seconds that writing it takes.

    Raises:
        HeadlightError: if BertViz is not installed.
    """
    try:
        from bertviz.model_view import model_view as view
    except ImportError as error:
        raise HeadlightError(
            "BertViz is not installed: pip install -e '.[bench]', then measure again."
        ) from error
    encoder, decoder, cross = (
        tuple(torch.from_numpy(layer)[None] for layer in trace.weights(kind)) for kind in KINDS
    )
    started = time.perf_counter()
    page = view(
        encoder_attention=encoder,
        decoder_attention=decoder,
        cross_attention=cross,
        encoder_tokens=list(trace.source_tokens),
        decoder_tokens=list(trace.decoder_tokens),
        html_action="return",
    )
    return len(page.data.encode()), time.perf_counter() - started
