"""Domain of a checkpoint: the text it was made for, and how sure it is of translations there."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from transformer.decoding import Hypothesis
from transformer.files.documents import read_document

FILE = "domain.json"
MAX_BYTES = 4_096
MOST_CUT = 3  # words that a notice names


@dataclass(frozen=True)
class Domain:
    """The text that a model knows."""

    made_for: Annotated[
        str, 1, MAX_BYTES
    ]  # that text in words, such as `short everyday English sentences`
    least_log_prob: float  # of `per_subword`, that translations of such text stay above

    def notice(
        self,
        best: Hypothesis,
        forced: int = 0,
        constraints: str = "",
        edited: bool = False,
        cut: Sequence[str] = (),
    ) -> str | None:
        """Return a warning if the model is less sure of a translation than of familiar text.

        Its first `forced` pieces are the user's, and do not count; `constraints` ends its subject.
        Of an `edited` model, such as one without some heads, it does not say that the text is why.
        Else it names the source words that were `cut` up, for the vocabulary lacks them.
        """
        own = best.log_probs[forced:]
        log_prob = per_subword(sum(own), len(own) - best.complete)
        if log_prob >= self.least_log_prob:
            return None
        subject = "what follows the forced prefix" if forced else "this translation"
        subject += constraints
        numbers = f"{_shown(log_prob)} per subword, usually above {_shown(self.least_log_prob)}"
        if edited:
            subject, why = f"{subject} after this change", ""
        else:
            why = f" on familiar text. It is made for {self.made_for}"
            if cut:
                why += f". Not in its vocabulary, and read in parts: {', '.join(cut[:MOST_CUT])}"
                why += " and more" if len(cut) > MOST_CUT else ""
        return f"The model is unsure of {subject}: log probability is {numbers}{why}."


def per_subword(log_prob: float, subwords: int) -> float:
    """Divide the log P of a translation, in nats, by its subwords without `</s>`.

    `</s>` is almost always certain: counted, it makes a translation of one or two words look sure.
    """
    return log_prob / max(1, subwords)


def read(folder: Path) -> Domain | None:
    """Read the domain of a checkpoint folder; None if it states none."""
    path = folder / FILE
    return read_document(path, Domain, MAX_BYTES) if path.is_file() else None


def _shown(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")
