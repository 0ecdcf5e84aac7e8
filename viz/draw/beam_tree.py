"""Every prefix that a beam search kept or dropped, as a tree: data for `viz/browser/beam_tree`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from transformer.text.languages import Languages
from viz.draw.labels import capitalised, display_tokens
from viz.draw.wire import encode_picture, is_index

State: TypeAlias = Literal["kept", "finished", "dropped", "forced"]
TITLE = "Beam tree"
NOTE = (
    "The chosen translation is at the top; discarded ones branch off. The thicker a line, "
    "the more probable its subword; a dot ends a translation, with its score."
)
FORCED = "Subwords on grey are forced."


@dataclass(frozen=True)
class DrawnNode:
    """A prefix that a search looked at, by its last piece."""

    parent: int | None  # place of the prefix without that piece in the list; None for a first piece
    text: str  # the piece as the tokenizer writes it, `▁` for a space
    log_prob: float  # log P of the piece given what stands before it, in nats
    total: float  # log P of the whole prefix, in nats
    step: int  # of the search, from 1
    state: State
    reason: str = ""  # a sentence that says why it was dropped, or ""
    score: float | None = None  # of a finished hypothesis, log P over the length penalty


def encode_tree(
    nodes: Sequence[DrawnNode],
    *,
    best: int,
    chosen: int | None = None,
    dropped: bool = False,
    languages: Languages,
    caption: Sequence[str] = (),
) -> bytes:
    """Encode the search tree of one sentence, in which a parent stands before its children.

    `best` is the last piece of the translation, or of the best prefix so far. `chosen` is the
    outlined node; `dropped` shows the dropped candidates, too.
    """
    forced = any(node.state == "forced" for node in nodes)
    labels = display_tokens([node.text for node in nodes])
    message = {
        "title": TITLE,
        "note": f"{NOTE} {FORCED}" if forced else NOTE,
        "best": best,
        "chosen": chosen,
        "dropped": dropped,
        "language": capitalised(languages.name("target")),
        "nodes": [
            {**vars(node), "label": label, "parent": -1 if node.parent is None else node.parent}
            for node, label in zip(nodes, labels, strict=True)
        ],
    }
    return encode_picture("beam_tree", caption, message)


def dropped_of(value: object) -> bool | None:
    """Return whether to show dropped candidates; None for any other message."""
    dropped = value.get("dropped") if isinstance(value, Mapping) else None
    return dropped if isinstance(dropped, bool) else None


def node_of(value: object, nodes: Sequence[DrawnNode]) -> int | None:
    """Return the clicked node; None if it is malformed, or of the tree of another search."""
    if not isinstance(value, Mapping):
        return None
    node = value.get("node")
    if not is_index(node, len(nodes)):
        return None
    prefix = ""
    at: int | None = node
    while at is not None:
        prefix, at = nodes[at].text + prefix, nodes[at].parent
    return node if value.get("prefix") == prefix else None
