"""The pictures of a translation and its search in Streamlit; as `viz.app.mounts`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transformer.languages import Languages
from viz.app.mount import mount
from viz.draw.beam_tree import DrawnNode, encode_tree, node_of
from viz.draw.step_bars import choice_of, encode_bars
from viz.draw.translation_editor import Edited, EditorPiece, Forced, edit_of, encode_editor


def translation_editor(
    text: str,
    pieces: Sequence[EditorPiece],
    *,
    revision: int,
    forced: int,
    by_hand: bool,
    languages: Languages,
    on_change: Callable[[Edited | Forced | None], None],
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw a translation that is edited in place, each word with its probability.

    `on_change` gets None for a choice among pieces that are no longer these.
    """
    data = encode_editor(
        text,
        pieces,
        revision=revision,
        forced=forced,
        by_hand=by_hand,
        languages=languages,
        caption=caption,
    )
    mount(key, data, lambda value: on_change(edit_of(value, pieces)))


def beam_tree(
    nodes: Sequence[DrawnNode],
    *,
    best: int,
    chosen: int | None,
    languages: Languages,
    on_pick: Callable[[int | None], None],
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw every prefix of a search and let one be picked: its node, None if that is no more."""
    data = encode_tree(nodes, best=best, chosen=chosen, languages=languages, caption=caption)
    mount(key, data, lambda value: on_pick(node_of(value, nodes)))


def step_bars(
    steps: Sequence[Sequence[tuple[str, float]]],
    *,
    on_pick: Callable[[tuple[int, int] | None], None],
    key: str,
    caption: Sequence[str] = (),
) -> None:
    """Draw the most probable pieces of each step and let one be picked: step and alternative.

    `on_pick` gets None for one among steps that are no longer these.
    """
    data = encode_bars(steps, caption=caption)
    mount(key, data, lambda value: on_pick(choice_of(value, steps)))
