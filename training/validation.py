"""Loss, perplexity, BLEU and chrF of a model on held-out text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import sacrebleu
import torch
from torch import distributed

from training.data.batches import TokenBatches, make_batch
from training.data.corpus import EncodedText, ParallelText, encode
from training.data.sentences import Sentences
from training.devices import ProcessInfo
from training.loss import label_smoothed_loss, with_bias
from transformer.config import EOS
from transformer.decoding import Hypothesis, greedy
from transformer.masks import pad_sequences, padding_mask
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.translation.batch import batches

Search = Callable[[torch.Tensor], list[Hypothesis]]


@dataclass(frozen=True)
class Score:
    """BLEU with the signature that makes it comparable (sacreBLEU: 13a, cased)."""

    bleu: float
    chrf: float
    signature: str


class Validation:
    """Measures a model in training on a fixed text; the training is not affected.

    Pairs that are empty or too long for the model are in neither the loss nor BLEU; they are
    counted in `encoded.left_out`.

    Args:
        text: sentences and references.
        tokenizer: of the model.
        model: the one in training.
        sentences: how many of them are translated for BLEU; the loss takes all.
    """

    def __init__(
        self, text: ParallelText, tokenizer: Tokenizer, model: Transformer, sentences: int
    ) -> None:
        self.encoded = encode(text, tokenizer, model.config.max_length)
        # the original lines: decoding the pieces would normalise them and lose unknown ones
        self.references = [text.target[line] for line in self.encoded.lines[:sentences]]
        self.tokenizer, self.model, self.sentences = tokenizer, model, sentences

    def loss(self) -> float:
        """Mean cross-entropy without smoothing and dropout, in nats."""
        with evaluation_mode(self.model):
            return mean_loss(self.model, self.encoded)

    def score(self) -> Score:
        """BLEU and chrF of greedy translations of the first sentences."""
        with evaluation_mode(self.model):
            translations = translate_all(
                self.encoded.source[: self.sentences],
                lambda source: greedy(self.model, source),
                self.tokenizer,
                self.model.device,
            )
        return score(translations, self.references)


@torch.inference_mode()
def mean_loss(model: Transformer, text: EncodedText, batch_tokens: int = 4_000) -> float:
    """Cross-entropy of each piece without smoothing, in nats; its exponential is the perplexity."""
    losses = []
    for rows in TokenBatches(text, batch_tokens, seed=0).epoch(0):
        batch = make_batch(text, rows).to(model.device)
        mask = padding_mask(batch.source)
        decoded = model.decode(batch.target, model.encode(batch.source, mask), mask)
        projected = with_bias(decoded, model.shared_embedding, model.output_bias)
        loss = label_smoothed_loss(*projected, batch.labels, epsilon_ls=0)
        losses.append(loss)
    tokens = int(text.target.lengths().sum()) + len(text)  # with each </s>
    # all at once: to read each would wait for a GPU each time
    return float(torch.stack(losses).double().sum()) / tokens


def perplexity(loss: float) -> float:
    """e^loss, per piece (§6.2 notes that it is not per word)."""
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
        hypotheses = search(pad_sequences([[*sources[i], EOS] for i in rows]).to(device))
        for row, hypothesis in zip(rows, hypotheses, strict=True):
            translations[row] = tokenizer.decode(hypothesis.tokens)
    return translations


def score(translations: Sequence[str], references: Sequence[str]) -> Score:
    """Compute sacreBLEU and chrF of the whole text."""
    bleu = sacrebleu.BLEU()
    return Score(
        bleu=bleu.corpus_score(list(translations), [list(references)]).score,
        chrf=sacrebleu.CHRF().corpus_score(list(translations), [list(references)]).score,
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


class SharedValidation:
    """Measures the loss on the rows r, r + W, … in process r of W, and sums over all of them.

    So all processes know one and the same loss, and stop early at the same validation.

    Args:
        validation: of the whole text.
        process: this process among those of the run.
    """

    def __init__(self, validation: Validation, process: ProcessInfo) -> None:
        self.validation, self.process = validation, process
        whole, rows = validation.encoded, slice(process.rank, None, process.world_size)
        self.part = EncodedText(Sentences(whole.source[rows]), Sentences(whole.target[rows]))

    def loss(self) -> float:
        """Mean cross-entropy of the whole text without smoothing and dropout, in nats."""
        if self.process.world_size == 1:
            return self.validation.loss()
        tokens = int(self.part.target.lengths().sum()) + len(self.part)  # with each </s>
        summed = 0.0
        if tokens:
            with evaluation_mode(self.validation.model):
                summed = mean_loss(self.validation.model, self.part) * tokens
        total = torch.tensor([summed, tokens], dtype=torch.float64, device=self.process.device)
        distributed.all_reduce(total)
        loss, count = total.tolist()
        return float(loss / count)
