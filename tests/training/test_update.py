"""Every optimisation leaves the mathematics as it is: a few steps against the plain loop."""

import copy
import dataclasses
import functools

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.nn import functional as F

from training import devices, schedule, update, validation
from training.config import Recipe, RunConfig
from training.data.batches import Batch, make_batch
from training.data.encoded_text import EncodedText, Sentences
from transformer.config import PAD, TransformerConfig
from transformer.model import Transformer

CONFIG = TransformerConfig(vocab_size=50, N=1, d_model=16, d_ff=32, h=2, P_drop=0.0)
RECIPE = Recipe(bf16=False, warmup=3)
HERE = devices.ProcessInfo(torch.device("cpu"))


def _batches(count: int, seed: int = 0) -> list[Batch]:
    random = np.random.default_rng(seed)

    def sentences() -> Sentences:
        return Sentences(random.integers(4, 50, random.integers(1, 9)).tolist() for _ in range(6))

    return [make_batch(EncodedText(sentences(), sentences()), range(6)) for _ in range(count)]


def _model() -> Transformer:
    torch.manual_seed(3)
    # Adam's first steps follow the sign of a gradient: float64, so that none is near zero by chance
    return Transformer(CONFIG).double().train()


def _plain_loop(model: Transformer, batches: list[Batch]) -> None:
    """Train as a tutorial would: whole logits, PyTorch's cross-entropy, PyTorch's Adam."""
    adam = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9, foreach=False)
    for step, batch in enumerate(batches, start=1):
        adam.param_groups[0]["lr"] = schedule.learning_rate(step, CONFIG.d_model, RECIPE.warmup)
        logits = model(batch.source, batch.target)
        loss = F.cross_entropy(
            logits.flatten(0, 1), batch.labels.flatten(), ignore_index=PAD, label_smoothing=0.1
        )
        adam.zero_grad()
        loss.backward()
        adam.step()


def _ours(model: Transformer, batches: list[Batch], recipe: Recipe = RECIPE) -> update.Updater:
    updater = update.Updater(model, RunConfig(model=CONFIG, recipe=recipe), HERE)
    for step, batch in enumerate(batches, start=1):
        updater.update(step, [batch], batch.tokens())
    return updater


def _assert_same_weights(a: Transformer, b: Transformer) -> None:
    for (name, p), q in zip(a.named_parameters(), b.parameters(), strict=True):
        assert torch.allclose(p, q, rtol=1e-6, atol=1e-9), name


def test_a_few_updates_equal_the_plain_loop() -> None:
    plain, ours, batches = _model(), _model(), _batches(5)
    _plain_loop(plain, batches)
    _ours(ours, batches)
    _assert_same_weights(ours, plain)


def test_micro_batches_equal_one_batch_whatever_their_sizes() -> None:
    first, second = _batches(2)
    second = Batch(second.source[:2], second.target[:2], second.labels[:2])  # fewer tokens
    apart, together = _model(), _model()
    tokens = first.tokens() + second.tokens()
    config = RunConfig(model=CONFIG, recipe=RECIPE)
    update.Updater(apart, config, HERE).update(1, [first, second], tokens)

    def both(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        width = max(a.size(1), b.size(1))
        return torch.cat([F.pad(t, (0, width - t.size(1)), value=PAD) for t in (a, b)])

    joined = Batch(
        both(first.source, second.source),
        both(first.target, second.target),
        both(first.labels, second.labels),
    )
    update.Updater(together, config, HERE).update(1, [joined], tokens)
    _assert_same_weights(apart, together)


def test_a_gradient_that_is_not_finite_leaves_weights_and_moments_alone() -> None:
    model = _model()
    updater = _ours(model, _batches(2))
    weights = copy.deepcopy(dict(model.named_parameters()))
    model.shared_embedding.register_hook(lambda gradient: gradient * float("nan"))
    for step, batch in enumerate(_batches(2, seed=1), start=3):
        updater.update(step, [batch], batch.tokens())
    assert int(updater.first_bad_step) == 3
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, weights[name])
        assert updater.optimizer.state[parameter]["exp_avg"].isfinite().all()


def test_dropout_draws_from_the_seed_the_step_and_the_process_alone() -> None:
    config = dataclasses.replace(CONFIG, P_drop=0.5)
    batch = _batches(1)[0]

    def losses(seed: int, rank: int, *steps: int) -> list[float]:
        torch.manual_seed(3)
        model = Transformer(config).double().train()
        run = RunConfig(model=config, recipe=dataclasses.replace(RECIPE, seed=seed, lr_factor=1e-9))
        updater = update.Updater(model, run, devices.ProcessInfo(torch.device("cpu"), rank))
        result = []
        for step in steps:
            torch.rand(step)  # what else is drawn does not matter
            updater.update(step, [batch, batch], 2 * batch.tokens())
            result.append(round(updater.take_summed_loss(), 6))
        return result

    whole = losses(1, 0, 1, 2, 3)
    assert losses(1, 0, 3) == whole[2:]  # as after a resume
    others = [losses(2, 0, 3), losses(1, 1, 3), whole[:1], whole[1:2]]
    assert len({*whole[2:], *(loss for result in others for loss in result)}) == 5


def test_bf16_stays_near_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices.ProcessInfo, "has_native_bf16", True)
    model, batch = _model().float(), _batches(1)[0]
    exact = float(update.SummedLoss(model)(*dataclasses.astuple(batch)).detach())
    updater = _ours(model, [batch], dataclasses.replace(RECIPE, bf16=True))
    rounded = updater.take_summed_loss()
    assert rounded != exact
    assert rounded == pytest.approx(exact, rel=0.01)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiled_layers_equal_the_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    # the graph is traced as ever, and run by PyTorch itself: its code generator is
    # not ours to test, and takes two minutes of a C++ compiler on a new machine
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    plain, ours, batches = _model(), _model(), _batches(3)
    _plain_loop(plain, batches)
    _ours(ours, batches, dataclasses.replace(RECIPE, compile=True))
    _assert_same_weights(ours, plain)
    # a compiled layer calls no hooks, and so is left out where weights are to be read
    batch, patterns = batches[0], []
    for model in (ours, plain):
        with validation.evaluation_mode(model):
            _, cache = model.run_with_cache(batch.source, batch.target)
        patterns.append(cache["decoder.layers.0.cross_attention.hook_pattern"])
    assert ours.training
    torch.testing.assert_close(*patterns)


@pytest.mark.slow
def test_no_update_waits_for_the_device() -> None:
    recipe = dataclasses.replace(RECIPE, r_drop=5.0, bf16=True)
    # fake tensors have shapes and no values: what would have to look at a value fails
    with FakeTensorMode():
        model = Transformer(dataclasses.replace(CONFIG, P_drop=0.1)).train()
        updater = update.Updater(model, RunConfig(model=model.config, recipe=recipe), HERE)
        ids = torch.empty(3, 4, dtype=torch.long)
        shorter = ids[:2, :3]
        batches = [Batch(ids, ids, ids), Batch(ids[:2], shorter, shorter)]
        for step in (1, 2):
            updater.update(step, batches, 18)
        with pytest.raises(DataDependentOutputException):
            updater.take_summed_loss()
