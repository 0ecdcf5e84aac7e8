"""Models in float64 with a sentence pair each, as the tests of the lenses need them."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from tests.transformer.analysis.plain_model import PlainModel
from transformer import AttentionTrace, Piece, Transformer, TransformerConfig
from transformer.analysis.lenses import lens
from transformer.config import BOS
from transformer.traces.capture import capture

VOCABULARY = 30
SHAPES = {
    # h · d_v = 20 is not d_model, and d_k is neither
    "uneven": (TransformerConfig(vocab_size=30, N=2, d_model=16, d_ff=24, h=4, d_k=3, d_v=5), 5, 4),
    "one head, one word": (TransformerConfig(vocab_size=30, N=1, d_model=12, d_ff=8, h=1), 3, 1),
    "learned": (
        TransformerConfig(vocab_size=30, N=3, d_model=24, d_ff=16, h=3, positions="learned"),
        4,
        6,
    ),
    # as MarianMT models are
    "biased": (
        TransformerConfig(
            vocab_size=30, N=2, d_model=16, d_ff=24, h=4, activation="swish",
            attention_bias=True, output_bias=True, source_vocab_size=60,
        ),
        5,
        4,
    ),
}  # fmt: skip


class Case(NamedTuple):
    """A model, a pair of sentences, and the same computed by other code."""

    model: Transformer
    trace: AttentionTrace
    plain: PlainModel
    translator: Any  # the model and the folder of a Translator


def random_model(config: TransformerConfig, seed: int = 5) -> Transformer:
    """Random weights in float64, in which no norm and no bias does nothing."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        model = Transformer(config).double().eval()
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
            elif "W_Q" in name:
                parameter.mul_(3)
    return model


def through(name, case: Case, kind) -> np.ndarray:
    """The values of a lens, in float32."""
    return lens(name, case.translator, case.trace, kind)


def case_of(model: Transformer, source: list[int], target: list[int]) -> Case:
    pieces = [
        [Piece(id_, f"▁{id_}", word) for word, id_ in enumerate(ids)] for ids in (source, target)
    ]
    return Case(
        model,
        AttentionTrace.from_fields(capture(model, "", "", *pieces)),
        PlainModel(model, source, [BOS, *target[:-1]]),
        SimpleNamespace(model=model, folder="here"),
    )


def random_case(name: str) -> Case:
    config, source, target = SHAPES[name]
    generator = torch.Generator().manual_seed(len(name))
    ids = torch.randint(4, VOCABULARY, (source + target,), generator=generator).tolist()
    first = [id_ + (config.source_vocab_size or VOCABULARY) - VOCABULARY for id_ in ids[:source]]
    return case_of(random_model(config), first, ids[source:])


@pytest.fixture(scope="session", params=SHAPES)
def case(request) -> Case:
    return random_case(request.param)


@pytest.fixture(scope="session")
def uneven() -> Case:
    return random_case("uneven")
