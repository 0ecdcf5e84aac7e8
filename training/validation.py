"""Measurements on held-out text: loss, perplexity, BLEU, chrF, and attention of probe sentences."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import sacrebleu
import torch

from training.bleu_tokens import DEFAULT
from training.data import corpus
from training.data.batches import TokenBatches, make_batch
from training.data.encoded_text import EncodedText, encode
from training.loss import decode_with_bias, label_smoothed_loss
from transformer import config, decoding, errors, trace
from transformer.masks import pad_sequences
from transformer.model import Transformer
from transformer.text.languages import OURS, Languages
from transformer.text.tokenizer import Tokenizer, with_end
from transformer.traces.capture import capture
from transformer.translation.batch import batches

Search = Callable[[torch.Tensor], list[decoding.Hypothesis]]


@dataclass(frozen=True)
class Score:
    """BLEU, cased, with the signature that makes it comparable."""

    bleu: float
    chrf: float
    signature: str


class Validation:
    """Measures a model in training on a fixed text; the training is not affected.

    Pairs that are empty or too long are in neither the loss nor BLEU, for which the first
    `sentences` are translated.
    """

    def __init__(
        self,
        text: corpus.ParallelText,
        tokenizer: Tokenizer,
        model: Transformer,
        sentences: int,
        tokenize: str = DEFAULT,
    ) -> None:
        self.encoded = encode(text, tokenizer, model.config.max_length)
        # the original lines: decoding the pieces would normalise them and lose unknown ones
        self.references = [text.target[line] for line in self.encoded.lines[:sentences]]
        self.tokenizer, self.model, self.sentences = tokenizer, model, sentences
        self.tokenize = tokenize

    def loss(self) -> float:
        """Compute the mean cross-entropy without smoothing and dropout, in nats."""
        with evaluation_mode(self.model):
            return mean_loss(self.model, self.encoded)

    def score(self) -> Score:
        """Compute BLEU and chrF of greedy translations of the first sentences."""
        with evaluation_mode(self.model):
            translations = translate_all(
                self.encoded.source[: self.sentences],
                lambda source: decoding.greedy(self.model, source),
                self.tokenizer,
                self.model.device,
            )
        return score(translations, self.references, self.tokenize)


@torch.inference_mode()
def mean_loss(model: Transformer, text: EncodedText, batch_tokens: int = 4_000) -> float:
    """Compute the mean cross-entropy per piece, without smoothing, in nats."""
    losses = []
    for rows in TokenBatches(text, batch_tokens, seed=0).epoch(0):
        batch = make_batch(text, rows).to(model.device)
        projected = decode_with_bias(model, batch.source, batch.target)
        losses.append(label_smoothed_loss(*projected, batch.labels, epsilon_ls=0))
    # all at once: to read each would wait for a GPU each time
    return float(torch.stack(losses).double().sum()) / _tokens(text)


def _tokens(text: EncodedText) -> int:
    return int(text.target.lengths().sum()) + len(text)  # with each </s>


def perplexity(loss: float) -> float:
    """Compute e^loss, per piece (§6.2 notes that it is not per word)."""
    return math.exp(min(loss, 700))


def translate_all(
    sources: Sequence[Sequence[int]],
    search: Search,
    tokenizer: Tokenizer,
    device: torch.device,
    batch_tokens: int = 2_000,
    progress: Callable[[Iterable[list[int]]], Iterable[list[int]]] = lambda hypotheses: hypotheses,
) -> list[str]:
    """Translate encoded sentences, longest first; the results are in the order of `sources`."""
    translations = [""] * len(sources)
    for rows in progress(batches([len(source) + 1 for source in sources], batch_tokens)):
        hypotheses = search(pad_sequences([[*sources[i], config.EOS] for i in rows]).to(device))
        for row, hypothesis in zip(rows, hypotheses, strict=True):
            translations[row] = tokenizer.decode(hypothesis.tokens)
    return translations


def score(
    translations: Sequence[str],
    references: Sequence[str],
    tokenize: str = DEFAULT,
    further: Sequence[Sequence[str]] = (),
) -> Score:
    """Compute sacreBLEU and chrF of the whole text; `further` are more references."""
    bleu, every = sacrebleu.BLEU(tokenize=tokenize), [references, *further]
    return Score(
        bleu=bleu.corpus_score(translations, every).score,
        chrf=sacrebleu.CHRF().corpus_score(translations, every).score,
        signature=str(bleu.get_signature()),
    )


@contextmanager
def evaluation_mode(model: Transformer) -> Iterator[None]:
    """Switch dropout and compiled layers off inside the `with` block.

    A compiled layer calls no hooks, and a search, whose shapes change at each step, would be
    compiled again and again.
    """
    was_training = model.training
    model.eval()
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        model.train(was_training)


Probes: TypeAlias = tuple[tuple[str, str], ...]
"""Sentences with their translations, whose attention a run saves as it trains."""

PROBES: Probes = (
    ("A man rides a brown horse.", "Ein Mann reitet auf einem braunen Pferd."),
    ("Two dogs are running through the snow.", "Zwei Hunde rennen durch den Schnee."),
    ("I do not know where she lives.", "Ich weiß nicht, wo sie wohnt."),
)


def is_probe_step(step: int) -> bool:
    """Return whether a step is a rounded power of √2: heads form in the first steps."""
    return step == round(2 ** (round(2 * math.log2(step)) / 2))


def save_probes(
    folder: Path,
    step: int,
    model: Transformer,
    tokenizer: Tokenizer,
    probes: Probes = PROBES,
    languages: Languages = OURS,
) -> None:
    """Write two traces of each probe, on its own and the model's greedy translation at this step.

    A probe that is empty, or of more pieces than the model takes, is left out. Each file is there
    whole or not at all: the Training page reads the folder during the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with evaluation_mode(model):
        for number, (source, target) in enumerate(probes, start=1):
            pieces = with_end(tokenizer.pieces(source)), with_end(tokenizer.pieces(target))
            if not 1 < min(map(len, pieces)) <= max(map(len, pieces)) <= model.config.max_length:
                continue
            ids = torch.tensor([[piece.id for piece in pieces[0]]], device=model.device)
            try:
                (hypothesis,) = decoding.greedy(model, ids, max_extra=len(pieces[1]))
            except errors.NotFiniteError:
                return  # the loss of the next update is not finite either, and stops the run
            written = hypothesis.tokens
            for name, text, target_pieces in (
                ("written", tokenizer.decode(written), tokenizer.pieces_of(written)),
                ("sentence", target, pieces[1]),  # last: the Training page looks for it
            ):
                fields = capture(model, source, text, pieces[0], target_pieces, languages=languages)
                trace.AttentionTrace.from_fields(fields).save(
                    folder / f"step-{step:08d}-{name}-{number}.npz"
                )
