"""A trace is what passes the hook points of the model, whatever else is on them."""

from pathlib import Path

import numpy as np
import pytest

from tests.transformer.checkpoints.marian import marian_folder
from transformer import Translator, kinds
from transformer.analysis.heads.effect import painted_map
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import removed
from transformer.hooks import Silence

KEPT = ("hook_mask", "hook_q", "hook_k", "hook_pattern")


def flat(pattern, name):
    """Spread the weights of the second head evenly."""
    pattern = pattern.clone()
    pattern[:, 1] = 1 / pattern.size(-1)
    return pattern


def watched(translator, source, target):
    """A trace, and what the hooks of the test read at the points meanwhile."""
    seen = {}
    names = [n for n in translator.model.hook_points() if n.rsplit(".")[-1] in KEPT]
    with translator.model.hooks({name: lambda v, n: seen.update({n: v.clone()}) for name in names}):
        trace = translator.trace(source, target)
    return trace, {name: value[0].double().numpy() for name, value in seen.items()}


def require_its_hook_points(translator, source, target, edited=()):
    trace, seen = watched(translator, source, target)
    unwatched = translator.trace(source, target)
    for kind in kinds.KINDS:
        weights = trace.weights(kind)
        assert np.array_equal(weights, unwatched.weights(kind))  # watching changes nothing
        for layer, weight in enumerate(weights):
            q, k, mask, pattern = (
                seen[f"{kinds.attention_name(kind, layer)}.{point}"]
                for point in ("hook_q", "hook_k", "hook_mask", "hook_pattern")
            )
            assert np.array_equal(weight, pattern.astype(np.float32))
            if (kind, layer) in edited:
                continue
            scores = np.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])
            scores = np.exp(scores - scores.max(-1, keepdims=True)) * mask
            expected = scores / scores.sum(-1, keepdims=True)
            assert np.abs(weight - expected).max() < 3e-6  # scores are rounded to float32
    assert np.array_equal(trace.log_probs, unwatched.log_probs)


@pytest.mark.slow
def test_the_weights_of_a_sentence_pass_the_hook_points(bundled):
    """Also with silenced heads, an edited map, painted rows and a forced prefix."""
    translator, line = bundled, "A man in a blue shirt stands on a ladder."
    cross = kinds.attention_name("cross", 1)
    prefix = translator.translate(line, beam_size=1).text.split()[0]
    target = translator.translate(line, beam_size=1, prefix=prefix).text
    whole = translator.trace(line, target)
    painted = painted_map(((1, (0, 2)),), whole.cross[2, 1])
    silent = {f"{cross}.hook_z": Silence((0, 2))}
    for hooks, maps, edited in (
        ({}, {}, ()),
        (silent, {}, ()),
        ({f"{cross}.hook_pattern": flat}, {}, (("cross", 1),)),
        (silent, {Head("cross", 2, 1): painted}, (("cross", 2),)),
    ):
        with translator.model.hooks(hooks), removed(translator, [], maps=maps):
            require_its_hook_points(translator, line, target, edited)


@pytest.mark.parametrize("shape", [{}, {"separate": True, "decoder": (3, 4, 32)}], ids=str)
def test_the_weights_of_a_marian_folder_pass_the_hook_points(shape, tmp_path: Path):
    translator = Translator.load(marian_folder.write(tmp_path / "marian", **shape))
    for source, target in zip(marian_folder.SOURCE, marian_folder.TARGET, strict=True):
        require_its_hook_points(translator, source, target)
