"""Probability of a given translation, piece by piece, with the best alternatives."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer import config, decoding, errors
from transformer.decoding.settings import SearchSettings, require_whole
from transformer.model import Transformer
from transformer.text.tokenizer import Piece, Tokenizer
from transformer.translation.loaded_model import LoadedModel
from transformer.translation.result import Candidate, Translation


@dataclass(frozen=True)
class Choice:
    """One piece at one step, and its probability given the source and all pieces before it."""

    piece: str
    probability: float


@dataclass(frozen=True)
class Scored:
    """A given translation with log P of each piece.

    Args:
        translation: the translation.
        alternatives: the most probable other pieces at each position, with their probabilities.
    """

    translation: Translation
    alternatives: tuple[tuple[Choice, ...], ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Scored pieces, `</s>` last if the translation has its end."""
        return self.translation.best.pieces

    @property
    def log_probs(self) -> tuple[float, ...]:
        """`[target]`, log P of each piece given all before it, in nats."""
        return self.translation.best.hypothesis.log_probs

    @property
    def log_prob(self) -> float:
        """Log probability of the translation, in nats."""
        return self.translation.best.hypothesis.log_prob

    @property
    def score(self) -> float:
        """Log probability over the length penalty (§6.1), by which a search ranks."""
        return self.translation.best.hypothesis.score

    @property
    def ended(self) -> bool:
        """True if the translation has its end, `</s>`."""
        return self.translation.best.hypothesis.complete


def score(
    loaded: LoadedModel, text: str, target: str | Sequence[str], alternatives: int, alpha: float
) -> Scored:
    """See `Translator.score`."""
    started = time.perf_counter()
    settings = SearchSettings(alpha=alpha)
    require_whole(alternatives, "number of alternatives")
    if alternatives < 0:
        raise errors.InputError(f"There cannot be {alternatives} alternatives: ask for 0 or more.")
    source, pieces = loaded.reader.text(text), loaded.reader.target(target)
    written = [piece.id for piece in pieces]
    log_p = forced_log_probs(loaded.model, [piece.id for piece in source], written)
    log_probs = log_p[range(len(written)), written].tolist()
    loaded.require_finite(log_probs)
    value = sum(log_probs) / decoding.length_penalty(len(written), alpha)
    given = decoding.Hypothesis(tuple(written), tuple(log_probs), value)
    shown = target if isinstance(target, str) else loaded.target_tokenizer.decode(written)
    translation = Translation(
        source=text,
        source_pieces=tuple(source),
        candidates=(Candidate(shown, tuple(pieces), given),),
        notices=loaded.warnings(text, source, given),
        seconds=time.perf_counter() - started,
        prefix=tuple(pieces),
        settings=settings,
    )
    others = most_probable_others(loaded.target_tokenizer, log_p, written, alternatives)
    return Scored(translation, tuple(others))


@torch.inference_mode()
def forced_log_probs(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Tensor:
    """Compute log P of every piece at each place, `[target, vocab]`, in one teacher-forced pass."""
    model.require_no_dropout()
    read = torch.tensor([[config.BOS, *target[:-1]]], device=model.device)
    logits = model(torch.tensor([source], device=model.device), read)[0]
    exact = torch.promote_types(logits.dtype, torch.float32)
    log_p: Tensor = logits.log_softmax(-1, dtype=exact)
    return log_p


@torch.inference_mode()
def most_probable_others(
    tokenizer: Tokenizer, log_p: Tensor, written: Sequence[int], count: int
) -> list[tuple[Choice, ...]]:
    """List at each place the `count` most probable pieces beside the one that is written.

    Pieces that a search never writes, such as `<pad>`, are left out; a small vocabulary may have
    fewer others. `log_p` is `[target, vocab]`, and `written`, `[target]`, token ids.
    """
    others = log_p.clone()
    others[:, list(decoding.NEVER_WRITTEN)] = -torch.inf
    others.scatter_(-1, torch.tensor(written, device=log_p.device)[:, None], -torch.inf)
    best = others.topk(min(count, log_p.size(-1) - len(decoding.NEVER_WRITTEN) - 1))
    probabilities = best.values.exp().tolist()
    return [
        tuple(
            Choice(piece.text, probability)
            for piece, probability in zip(tokenizer.pieces_of(ids), row, strict=True)
        )
        for ids, row in zip(best.indices.tolist(), probabilities, strict=True)
    ]
