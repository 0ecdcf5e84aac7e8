"""Heads taken away by hooks of the context: in a search, in a trace, by one person at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from transformer import InputError, Transformer, Translator, decoding, masks
from transformer.analysis.heads.effect import effect
from transformer.analysis.heads.head import Head
from transformer.analysis.heads.removal import Removal, patched, removed, rows_removal
from transformer.config import BOS, EOS
from transformer.kinds import KINDS, Kind, attention_name
from transformer.text import languages
from transformer.trace import AttentionTrace

TEXT = "The old cat sits beside the river."


@pytest.fixture(scope="module")
def trace(translator: Translator) -> AttentionTrace:
    return translator.trace(TEXT, "Die alte Katze sitzt neben dem Fluss.")


def rows_of(trace, kind, seed=0):
    """A pattern that no head has, `[query, key]`."""
    shape = trace.weights(kind).shape[2:]
    values = np.random.default_rng(seed).random(shape) ** 4
    values = np.tril(values) if kind == "decoder_self" else values
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def log_probs(model: Transformer, trace: AttentionTrace) -> np.ndarray:
    written = [piece.id for piece in trace.target_pieces]
    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    with torch.no_grad():
        log_p = model(source, torch.tensor([[BOS, *written[:-1]]]))[0].log_softmax(-1)
    return log_p[torch.arange(len(written)), written].numpy()


def test_nothing_taken_away_changes_no_bit(translator, trace) -> None:
    outcome = effect(translator, trace, [])
    assert not outcome.changes.any()
    assert all(np.array_equal(outcome.after.weights(k), trace.weights(k)) for k in KINDS)
    assert outcome.translation.best == translator.translate(TEXT).best
    other = replace(trace, languages=languages.Languages("Finnish", "Estonian"))
    assert effect(translator, other, []).after.languages == other.languages


@pytest.mark.parametrize("kind", KINDS)
def test_log_p_is_that_of_a_model_whose_columns_of_W_O_are_zero(translator, trace, kind) -> None:
    config = translator.model.config
    changed = Transformer(config)
    changed.load_state_dict(translator.model.state_dict())
    with torch.no_grad():
        W_O = changed.get_parameter(f"{attention_name(kind, 1)}.W_O.weight")
        W_O[:, 2 * config.d_v : 3 * config.d_v] = 0
    outcome = effect(translator, trace, [Removal(kind, 1, 2)])
    np.testing.assert_allclose(outcome.after.log_probs, log_probs(changed.eval(), trace), atol=1e-5)
    assert np.abs(outcome.changes).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_uniform_spreads_over_what_may_be_seen_and_nothing_else(model, kind) -> None:
    source = torch.tensor([[9, 8, 7, 6, EOS], [5, 4, EOS, 0, 0]])
    target = torch.tensor([[BOS, 5, 6, 7], [BOS, 9, 0, 0]])
    with removed(model, [Removal(kind, 0, 1, "uniform"), Removal(kind, 0, 3, "uniform")]):
        _, cache = model.run_with_cache(source, target)
    pattern = cache[f"{attention_name(kind, 0)}.hook_pattern"]
    mask = masks.padding_mask(source)
    if kind == "decoder_self":
        mask = torch.ones(4, 4).tril().bool()[None, None]
    expected = (mask / mask.sum(-1, keepdim=True)).expand_as(pattern[:, :1])
    torch.testing.assert_close(pattern[:, 1:2], expected)
    torch.testing.assert_close(pattern[:, 3:], expected)
    _, plain = model.run_with_cache(source, target)
    assert torch.equal(
        pattern[:, [0, 2]], plain[f"{attention_name(kind, 0)}.hook_pattern"][:, [0, 2]]
    )


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_each_step_of_a_search_has_its_own_painted_row(translator, trace, kind, beam) -> None:
    model, rows = translator.model, rows_of(trace, kind)
    seen: list[tuple[int, torch.Tensor]] = []

    def watch(pattern: torch.Tensor, _name: str) -> None:
        seen.append((pattern.size(2), pattern[:, 2].clone()))

    source = torch.tensor([[piece.id for piece in trace.source_pieces]])
    watched = {f"{attention_name(kind, 1)}.hook_pattern": watch}
    painted = {Head(kind, 1, 2): rows}
    with removed(model, [], maps=painted), model.hooks(watched):
        best = decoding.beam_search(model, source, beam_size=beam)[0][0]
    if kind == "encoder_self":
        ((_, pattern),) = seen
        assert torch.equal(pattern[0], torch.from_numpy(rows))
    else:
        assert len(seen) > 2
        assert all(queries == 1 for queries, _ in seen)
        for step, (_, pattern) in enumerate(seen[: len(rows)]):
            expected = rows[step, : step + 1] if kind == "decoder_self" else rows[step]
            for row in pattern[:, 0].numpy():
                np.testing.assert_array_equal(row, expected)
        for _, pattern in seen[len(rows) :]:  # beyond the painted rows the model's own stay
            assert not any(np.array_equal(pattern[0, 0].numpy(), row) for row in rows)
    # what the search computed is what one teacher-forced pass computes
    read = torch.tensor([[BOS, *best.tokens[:-1]]])
    with removed(model, [], maps=painted), torch.no_grad():
        log_p = model(source, read)[0].log_softmax(-1)
    own = log_p[torch.arange(len(best.tokens)), list(best.tokens)]
    np.testing.assert_allclose(own.numpy(), best.log_probs, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", ["z", "pattern"])
def test_a_head_patched_from_the_sentence_itself_does_what_it_did(translator, kind, point) -> None:
    own = translator.trace(TEXT, beam_size=1)  # of the search that is patched below
    head = Head(kind, 0, 1)
    source = torch.tensor([[piece.id for piece in own.source_pieces]])
    plain = decoding.greedy(translator.model, source)[0]
    patch = (
        patched(translator.model, own, [head])
        if point == "z"
        else removed(translator, [], maps={head: own.weights(kind)[0, 1]})
    )
    with patch:
        same = effect(translator, own, [], beam_size=1)
        assert decoding.greedy(translator.model, source)[0].tokens == plain.tokens
    np.testing.assert_allclose(same.changes, 0, atol=1e-5)


def test_z_of_an_encoder_head_is_not_taken_from_a_sentence_of_another_length(translator) -> None:
    other = translator.trace("Our neighbour waits in the garden.", beam_size=1)
    with (
        patched(translator.model, other, [Head("encoder_self", 0, 1)]),
        pytest.raises(InputError, match="choose one of the same length"),
    ):
        translator.translate("Our neighbour waits.")


def test_z_of_a_second_sentence_stands_where_the_first_had_its_own(translator) -> None:
    first, second = (
        translator.trace(text, "Der Hund schläft.") for text in ("The dog sings.", "The cat sings.")
    )
    assert first.cross.shape == second.cross.shape
    head = Head("cross", 1, 3)
    names = f"{attention_name('cross', 1)}.hook_z"
    source = torch.tensor([[piece.id for piece in second.source_pieces]])
    read = torch.tensor([[BOS, *[piece.id for piece in second.target_pieces[:-1]]]])
    with torch.no_grad():
        _, theirs = translator.model.run_with_cache(source, read)
        with patched(translator.model, second, [head]):
            own = torch.tensor([[piece.id for piece in first.source_pieces]])
            _, mine = translator.model.run_with_cache(own, read)
    torch.testing.assert_close(mine[names][:, 3], theirs[names][:, 3])
    assert (mine[names][:, 2] - theirs[names][:, 2]).abs().max() > 0.01


def test_weights_of_a_second_sentence_stand_where_the_first_had_its_own(translator) -> None:
    first, second = (
        translator.trace(text, "Der Hund schläft.") for text in ("The dog sings.", "The cat sings.")
    )
    after = effect(translator, first, [Removal("cross", 1, 3, "weights")], second).after
    np.testing.assert_allclose(after.cross[1, 3], second.cross[1, 3], atol=1e-6)
    assert np.abs(first.cross[1, 3] - second.cross[1, 3]).max() > 0.01
    np.testing.assert_allclose(after.cross[1, 2], first.cross[1, 2], atol=1e-5)


def test_the_mean_of_a_head_stands_at_every_position(translator, trace) -> None:
    config = translator.model.config
    draw = torch.Generator().manual_seed(0)
    means = {kind: torch.randn(config.N, config.h, config.d_v, generator=draw) for kind in KINDS}
    seen = []
    name = f"{attention_name('cross', 1)}.hook_z"
    with (
        removed(translator, [Removal("cross", 1, 3, "mean")], means),
        translator.model.hooks({name: lambda z, _: seen.append(z.clone())}),
    ):
        translator.trace(TEXT, trace.target)
        translator.translate(TEXT, beam_size=2)
    assert len(seen) > 3
    for z in seen:
        assert torch.equal(z[:, 3], means["cross"][1, 3].expand_as(z[:, 3]))
    with (
        pytest.raises(InputError, match="was not measured for this model"),
        removed(translator, [Removal("cross", 1, 3, "mean")]),
    ):
        pass
    foreign: dict[Kind, torch.Tensor] = {"encoder_self": means["encoder_self"]}
    smaller = foreign | {"cross": means["cross"][:1]}
    for given, message in ((foreign, "none is given"), (smaller, r"\[1, 4, 8\]")):
        with (
            pytest.raises(InputError, match=f"of cross must be .*{message}"),
            removed(translator, [Removal("cross", 1, 3, "mean")], given),
        ):
            pass


def test_heads_that_the_model_has_not_and_patterns_of_other_sentences(translator, trace) -> None:
    for removals, message in (
        ([Removal("cross", 2, 0)], "has 2 layers, counted from 0: there is no layer 2"),
        ([Removal("cross", 0, 4)], "has 4 heads, counted from 0: there is no head 4"),
        ([Removal("cross", 0, 1), Removal("cross", 0, 1, "uniform")], "is named twice"),
        (
            [rows_removal(Head("cross", 0, 1), {0: (0,)}, (3, 3))],
            "is 3 × 3, and on this sentence it is",
        ),
    ):
        with pytest.raises(InputError, match=message):
            effect(translator, trace, removals)
    for kind in ("cross", "encoder_self"):
        wrong = removed(translator, [], maps={Head(kind, 0, 1): np.eye(3)})
        with wrong, pytest.raises(InputError, match="paint it on this sentence"):
            translator.translate(TEXT)
    assert not effect(translator, trace, []).changes.any()  # nothing stays behind


NAN = float("nan")


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("cross", [[0.5, 0.4]]), ("cross", [[1.5, -0.5]]), ("cross", [[NAN, 1]]),
     ("decoder_self", [[0.5, 0.5], [0, 1]])],
)  # fmt: skip
def test_a_map_that_no_softmax_gives_is_refused(translator, kind, rows) -> None:
    maps = {Head(kind, 0, 1): np.array(rows)}
    with (
        pytest.raises(InputError, match=rf"The map of {Head(kind, 0, 1).title} is not one of"),
        removed(translator, [], maps=maps),
    ):
        pass
    repeated = removed(translator, [Removal(kind, 0, 1)], maps={Head(kind, 0, 1): np.eye(2)})
    with pytest.raises(InputError, match="is named twice"), repeated:
        pass
