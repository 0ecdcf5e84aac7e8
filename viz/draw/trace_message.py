"""One sentence as the engine in a page writes it too: `Trace` and `About` of core/trace.ts."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from transformer import AttentionTrace, Translator, errors
from transformer.analysis.alignment_settings import read_alignment
from transformer.corpus import head_report
from transformer.kinds import KINDS
from transformer.text.languages import Side, code_of_name
from transformer.text.tokenizer import Piece
from transformer.translation.result import Translation
from viz.draw import watched
from viz.draw.caption import Origin


def trace_message(
    translator: Translator, translation: Translation, trace: AttentionTrace
) -> dict[str, Any]:
    """Return the message of a translation, whose search kept its tree, and of its trace."""
    score = translator.score(
        trace.source, [piece.text for piece in trace.target_pieces], alternatives=watched.OPTIONS
    )
    steps = watched.search_steps(score)
    return {
        "source": _side(trace.source, trace.source_pieces),
        "target": _side(trace.target, trace.target_pieces),
        "kinds": [
            {
                "kind": kind,
                "layers": trace.weights(kind).shape[0],
                "heads": trace.weights(kind).shape[1],
                "causal": kind == "decoder_self" and trace.causal,
                "weights": trace.weights(kind).astype(np.float32),
            }
            for kind in KINDS
        ],
        "logProbs": trace.log_probs.astype(np.float32),
        "options": [
            {
                "pieces": [piece for piece, _ in step.options],
                "p": np.float32([p for _, p in step.options]),
                "taken": step.taken,
            }
            for step in steps
        ],
        "beginnings": _beginnings(translator, translation, len(steps)),
        "edited": {"removed": [], "rows": [], "prefix": 0},
    }


def about_model(translator: Translator) -> dict[str, Any]:
    """Return what stands beside every trace of a model."""
    languages = [translator.languages.name(side) for side in get_args(Side)]
    settings = read_alignment(translator)
    heads = head_report.read(translator.folder, translator.model.config)
    roles: dict[str, list[list[str]]] = {}
    for figures in heads.heads if heads else ():
        kind, layer, head = figures.place
        layers = roles.setdefault(kind, [])
        layers.extend([] for _ in range(layer + 1 - len(layers)))
        layers[layer].insert(head, figures.role)
    alignment = None
    if settings.head is not None and settings.lens == "weights":
        alignment = {
            "layer": settings.layer,
            "head": settings.head,
            "row": settings.row,
            "lens": settings.lens,
            "error": settings.gold and settings.gold.aer,
        }
    return {
        "languages": [{"code": code_of_name(name), "name": name} for name in languages],
        "madeBy": Origin.from_translator(translator, "", "").made_by,
        "alignment": alignment,
        "roles": roles,
    }


def _side(text: str, pieces: Sequence[Piece]) -> dict[str, Any]:
    return {
        "text": text,
        "pieces": [piece.text for piece in pieces],
        "words": [piece.word for piece in pieces],
    }


def _beginnings(translator: Translator, translation: Translation, count: int) -> list[list[str]]:
    """Return the texts that the search kept or finished at each of its first steps."""
    tree = translation.tree
    if tree is None:
        raise errors.InputError("The search has kept no tree: translate with tree=True.")
    texts = defaultdict[int, list[str]](list)
    for index, node in enumerate(tree.nodes):
        if node.state in ("kept", "finished"):
            texts[node.step].append(translator.target_tokenizer.decode(tree.prefix(index)))
    return [texts[step] for step in range(1, count + 1)]
