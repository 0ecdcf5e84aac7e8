"""One sentence as a page of many holds it: packed, with what the summary needs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transformer.analysis.corpus.head_summary import SentenceHeads, measure_heads
from transformer.kinds import Kind
from transformer.text.languages import code_of_name
from transformer.trace import AttentionTrace
from viz.draw.explorer import encode_page
from viz.draw.explorer_notes import is_alone
from viz.draw.explorer_options import ExplorerOptions, shown_parts
from viz.draw.labels import capitalised
from viz.draw.lines import ListedSentence, Side
from viz.draw.open_head import heads_of_kind

if TYPE_CHECKING:
    from viz.draw.caption import Origin


@dataclass(frozen=True, eq=False)
class SentenceRecord:
    """One sentence as the page holds it; the trace itself need not be kept.

    Args:
        listed: what the list says of it.
        blocks: what the page carries for the explorer, by the ends of their names: "" for the
            message, and `.cross.2.5` for a head that is unpacked by itself.
        heads: of each kind, for the summary.
        opens: kind of the head that is open first.
        notes: on its weights.
    """

    listed: ListedSentence
    blocks: Mapping[str, str]
    heads: Mapping[Kind, SentenceHeads]
    opens: Kind
    notes: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of its blocks."""
        return sum(map(len, self.blocks.values()))


def pack_sentence(
    number: int,
    trace: AttentionTrace,
    options: ExplorerOptions | None = None,
    origin: Origin | None = None,
) -> SentenceRecord:
    """Make of a trace what the page holds of it.

    Args:
        number: of its line, from 1.
        trace: what `lens_trace` makes of one, where the options have a lens other than the weights.
        options: what is shown, and how; of heads that the trace has.
        origin: the sentence and its model, if they are to be told in saved pictures.

    Raises:
        InputError: if there is no such head, or no token is left to show.
    """
    options = options or ExplorerOptions()
    shown = shown_parts(options, trace)
    by_kind = {kind: _measured_heads(trace, kind, options) for kind in shown.kinds}
    listed = ListedSentence(
        number=number,
        source=trace.source,
        target=trace.target,
        log_p=float(trace.log_probs.sum()) if len(trace.log_probs) else None,
        length=len(trace.source_pieces) + len(trace.target_pieces or trace.decoder_pieces),
        unlike=sum(heads.unlike for heads in by_kind.values()) / len(by_kind),
        sides=_sides(trace),
    )
    encoded = encode_page(trace, options, origin)
    blocks = {"": encoded.message, **{f".{name}": text for name, text in encoded.heads.items()}}
    notes = (*trace.notes, *([encoded.note] if encoded.note else []))
    return SentenceRecord(listed, blocks, by_kind, shown.kind, notes)


def _sides(trace: AttentionTrace) -> tuple[Side, ...]:
    """Return the named sides; an encoder or a decoder alone has neither side nor name."""
    names = [trace.languages.name(side) for side in ("source", "target")]
    return tuple(
        Side("Text" if is_alone(trace) else capitalised(name), code_of_name(name)) for name in names
    )


def _measured_heads(trace: AttentionTrace, kind: Kind, options: ExplorerOptions) -> SentenceHeads:
    """Measure all heads of a kind, shown or not, by the tokens that the grid names."""
    heads = heads_of_kind(trace, kind, words=options.words, special=True, lens=options.lens)
    return measure_heads(heads.whole, kind)
