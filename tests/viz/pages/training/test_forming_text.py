"""What is said of the steps of a run, on weights whose answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from tests.viz.planted_trace import words
from transformer import AttentionTrace
from viz.pages.training.forming_text import describe_forming

PIECES = 5  # with the end token


def trace(
    encoder: float = 0, decoder: float = 0, cross: float = 0, *, shape: tuple[int, int] = (2, 3),
    pieces: int = PIECES,
) -> AttentionTrace:  # fmt: skip
    """Every row has a share of its weight on its own token or the first, and the rest is even."""
    even = np.full((pieces, pieces), 1 / pieces)
    seen = np.tril(np.ones((pieces, pieces)))
    first = np.eye(pieces)[np.zeros(pieces, int)]

    def heads(share: float, most: np.ndarray, rest: np.ndarray) -> np.ndarray:
        weights = share * most + (1 - share) * rest
        return np.broadcast_to(weights, (*shape, pieces, pieces)).astype(np.float32)

    return AttentionTrace(
        source="a",
        target="a",
        source_pieces=words(*"abcd"[: pieces - 1]),
        target_pieces=words(*"klmn"[: pieces - 1]),
        encoder_self=heads(encoder, first, even),
        decoder_self=heads(decoder, first, seen / seen.sum(-1, keepdims=True)),
        cross=heads(cross, np.eye(pieces), even),
        log_probs=np.zeros(pieces, np.float32),
    )


def of_kind(said: str, name: str) -> str:
    """What stands between “of the 6 cross heads” and the next kind."""
    return said.split(f"{name} head")[1].removeprefix("s ").split("; ")[0].split(". ")[0]


def test_each_kind_is_halfway_by_its_own_step() -> None:
    shares = {1: (0, 0, 0), 2: (0.41, 0.39, 0), 64: (0.9, 0.41, 0.1), 500: (0.8, 0.8, 0.8)}
    traces = {step: trace(*each) for step, each in shares.items()}
    said = describe_forming(traces)
    assert said.startswith("From step 1 to step 500, the mean confidence of the 6 encoder heads")
    # a share of 0.8 on one of five keys, and its part of the even rest
    assert of_kind(said, "encoder") == "rises from 0.20 to 0.84, halfway by step 2"
    assert of_kind(said, "decoder").endswith("halfway by step 64")
    assert of_kind(said, "cross").endswith("halfway by step 500")


@pytest.mark.parametrize(
    ("shares", "halfway"),
    [
        ({1: 0.0, 8: 0.39, 9: 0.41, 12_000: 0.8}, "9"),
        ({1: 0.0, 8: 0.1, 12_000: 0.8}, "12,000"),  # a run that goes on moves its half
        ({5: 0.4, 8: 0.59, 9: 0.2, 16: 0.61, 32: 0.8}, "16"),
    ],
)
def test_half_is_of_the_rise_between_the_first_and_the_last_step(
    shares: Mapping[int, float], halfway: str
) -> None:
    said = describe_forming({step: trace(encoder=share) for step, share in shares.items()})
    assert of_kind(said, "encoder").endswith(f"halfway by step {halfway}")


def test_what_falls_or_stays_does_not_rise() -> None:
    said = describe_forming({1: trace(encoder=0.8), 2: trace(encoder=0.5, decoder=0.001)})
    assert of_kind(said, "encoder") == "does not rise (0.84, 0.60)"
    assert "does not rise" in of_kind(said, "decoder")  # not by as much as is shown
    assert of_kind(said, "cross") == "does not rise (0.20, 0.20)"


def test_the_first_step_with_a_head_that_aligns_is_named_or_that_there_is_none() -> None:
    shares = {1: 0.0, 512: 0.45, 1024: 0.55, 2048: 0.2, 4096: 0.9}
    traces = {step: trace(cross=share) for step, share in shares.items()}
    said = "Of the steps on the slider, 1,024 is the first at which a cross head aligns."
    assert describe_forming(traces).endswith(said)
    none = {step: traces[step] for step in (1, 512, 2048)}
    assert describe_forming(none).endswith("No cross head aligns at any step on the slider.")
    # one head is enough
    cross = traces[1].cross.copy()
    cross[1, 2] = traces[1024].cross[1, 2]
    alone = replace(traces[1], cross=cross)
    assert "256 is the first" in describe_forming({1: traces[1], 256: alone})


def test_one_step_says_nothing_and_one_head_or_one_token_what_is_so() -> None:
    assert describe_forming({7: trace(0.5)}) == ""
    said = describe_forming({1: trace(shape=(1, 1)), 2: trace(0.8, shape=(1, 1))})
    assert "of the 1 encoder head rises" in said
    said = describe_forming({1: trace(pieces=1), 2: trace(0.8, 0.8, 0.8, pieces=1)})
    assert said.count("does not rise") == 3
    assert "No cross head aligns" in said
