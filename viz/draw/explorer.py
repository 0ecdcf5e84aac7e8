"""The report's heads and maps: data for `viz/browser/explorer`.

The weights of a head that is unpacked by itself are a text: base64 of gzip of planes, the first
byte of every number, then the second, and so on, as `viz/browser/explorer.ts` reads it. The
numbers are the float32 weights; beyond `EXACT_BYTES` they are steps in 16 bits of the size
`Packing.unit`.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer import errors
from transformer.analysis.axes import apart_note
from transformer.analysis.heads.head import Head
from transformer.kinds import KIND_TITLES, Kind
from transformer.trace import AttentionTrace, Labels
from viz.draw import caption, wire
from viz.draw.head_grid import LARGEST, encode_grid
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.draw.open_head import every_head, name_end
from viz.draw.trace_message import WHOLE_BYTES, is_whole

EXACT_BYTES = 2**26  # bytes of float32 weights up to which a page holds all of them exactly

MAX_BYTES = 2**30  # largest size of a page's weights in 16 bits, in bytes

_LEVEL = 6  # of gzip; 9 takes three times as long for a hundredth
_FAST = 1  # weights hardly become smaller at any other level, and it takes longer


@dataclass(frozen=True)
class EncodedPage:
    """Contents of a page: the message and, for large traces, each head apart."""

    message: str  # what is unpacked at once, gzip in base64
    # the weights of each head that is unpacked when it is opened, by a name such as `cross.2.5`,
    # those that are open first in front; none where the message has them all
    heads: Mapping[str, str] = field(default_factory=dict)
    # sentences on words that stay in pieces, and on numbers that are rounded
    notes: tuple[str, ...] = ()


def encode_page(
    trace: AttentionTrace,
    options: ExplorerOptions,
    origin: caption.Origin | None = None,
    *,
    carried: bool = False,
) -> EncodedPage:
    """Encode the message of the explorer, gzip in base64: no character of it can close a tag.

    It holds the grid's bytes, and for each kind those of one map and its ribbons, for labels and
    colours. The weights of all heads, `[layer, head, query, key]`, and the maps beside the open one
    follow, unless the page carries the trace with them. Of a larger trace, the heads are separate.
    """
    view = HeadsView(trace, options, origin)
    apart = apart_note(trace) if options.words else ""
    notes: tuple[str, ...] = (apart,) if apart else ()
    whole = {kind: heads.axes.weights for kind, heads in view.heads.items()}
    if sum(array.nbytes for array in whole.values()) <= WHOLE_BYTES:
        if carried and is_whole(trace):
            whole = {k: array for k, array in whole.items() if array is not trace.weights(k)}
        return EncodedPage(_message(view, whole, Packing()), notes=notes)
    places = dict.fromkeys(_openable_heads(view))
    weights = [view.heads[kind].axes.weights[layer, head] for kind, layer, head in places]
    packing = choose_packing(weights)
    names = (".".join(map(str, place)) for place in places)
    packed = dict(zip(names, packing.texts(weights), strict=True))
    note = (
        f"The weights are rounded to steps of {packing.step}, 16 bits each: exact ones would take "
        f"{sum(array.nbytes for array in weights) / 1e6:,.0f} MB. A page of fewer layers or kinds "
        f"holds exact ones."
    )
    if not packing.exact:
        notes += (note,)
    return EncodedPage(_message(view, {}, packing), packed, notes)


def _openable_heads(view: HeadsView) -> Iterator[Head]:
    """Yield every head that can be opened; those that are open at first come first."""
    selected = view.selected
    if selected.layer >= 0 and selected.head >= 0:  # a mean travels by itself
        yield selected
    yield from (Head(view.kind, *over) for over in view.options.over)
    kinds = (view.heads[kind] for kind in view.shown.kinds)
    yield from every_head(kinds, view.shown.layers)


def _message(view: HeadsView, weights: Mapping[Kind, npt.NDArray], packing: "Packing") -> str:
    """Encode grid, labels, colours and the given weights of kinds."""
    options = view.options
    lens, sinks, rows = options.lens, options.sinks, options.rows
    kinds = {
        kind: {
            "axes": view.axes(kind).message,
            "ribbonAxes": view.axes(kind, rows).message if rows else None,
            "title": name_end(kind, lens, sinks=sinks),
            "note": view.note(kind, heads.axes.weights[heads.axes.existing_heads]),
            "caption": view.caption(
                f"{KIND_TITLES[kind]}, {caption.lens_caption(lens, sinks=sinks)}"
            ),
            "heads": heads.axes.weights.shape[1],
            "weights": weights.get(kind),
        }
        for kind, heads in view.heads.items()
    }
    compared: list[bytes] = []
    if options.compared is not None:
        compared = [options.compared.open_map()]
        if (difference := view.difference(options.compared)) is not None:
            compared.append(difference)
    separate = caption.tells_heads(lens)
    message = {
        "component": "explorer",
        "selected": [view.kind, options.layer, options.head if separate else None],
        "name": view.opened.name,
        "mean": view.opened.weights.astype(np.float32) if -1 in view.selected else None,
        "over": options.over,
        "together": None if separate else caption.ALL_HEADS,
        "look": asdict(view.look),
        "grid": view.grid(),
        "kinds": kinds,
        "packing": {"dtype": packing.dtype, "unit": packing.unit},
        "steps": "" if packing.exact else packing.step,
        "compared": compared,
        "pairs": _pairs(view),
    }
    return wire.packed(wire.encode(message), _LEVEL)


def _pairs(view: HeadsView) -> list[dict[str, Any]]:
    """Return the parts of a map over a pair of texts, with a grid of each; none for one text."""
    heads = view.heads.get("encoder_self")
    if heads is None or "encoder_self" not in view.shown.kinds:
        return []
    start, (queries, keys) = heads.axes.second_start, heads.axes.labels
    if start is None or not 0 < start < len(queries):
        return []
    pairs: list[dict[str, Any]] = []
    spans = {"first": (0, start), "second": (start, len(queries))}
    for looking, looked_at in product(spans, spans):
        rows, columns = slice(*spans[looking]), slice(*spans[looked_at])
        axes = heads.axes._replace(
            weights=np.ascontiguousarray(heads.axes.weights[:, :, rows, columns]),
            labels=Labels(queries[rows], keys[columns]),
            second_start=None,
        )
        pairs.append({
            "looking": looking,
            "looked_at": looked_at,
            "rows": spans[looking],
            "keys": spans[looked_at],
            "note": f"Rows of the {looking} text, columns of the {looked_at}: what a row gives to "
            f"the other text is left out of its sum.",
            # the four parts together have as many cells as the whole map
            "grid": encode_grid([view.part(replace(heads, axes=axes))], largest=LARGEST // 2),
        })  # fmt: skip
    return pairs


@dataclass(frozen=True)
class Packing:
    """Number format of packed weights."""

    dtype: str = "float32"  # of the numbers, one of `wire.DTYPES`
    unit: float = 1.0  # what a number counts; 1 where they are the weights themselves

    @property
    def exact(self) -> bool:
        """True if nothing is rounded."""
        return self.dtype == "float32"

    @property
    def step(self) -> str:
        """The unit with two digits."""
        return np.format_float_positional(self.unit, precision=2, fractional=False)

    def numbers(self, weights: npt.NDArray[np.float32]) -> npt.NDArray:
        """Quantise weights; only 0 becomes 0, so that no small weight is lost."""
        if self.exact:
            return weights.astype(np.float32, copy=False)
        steps = np.rint(weights / np.float32(self.unit))
        return np.where(steps == 0, np.sign(weights), steps).astype(self.dtype)

    def text(self, weights: npt.NDArray[np.float32]) -> str:
        """Pack the weights of one head, `[query, key]`, as text without any `<`."""
        numbers = self.numbers(weights)
        little = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<"))
        planes = little.reshape(-1).view(np.uint8).reshape(-1, little.itemsize).T
        return wire.packed(planes.tobytes(), _FAST)

    def texts(self, weights: Iterable[npt.NDArray[np.float32]]) -> list[str]:
        """Pack the weights of many heads, on all cores."""
        with ThreadPoolExecutor() as threads:
            return list(threads.map(self.text, weights))


def choose_packing(weights: Iterable[npt.NDArray[np.float32]]) -> Packing:
    """Choose how a page writes all of these: exactly, if they are not too many."""
    every = list(weights)
    count = sum(array.size for array in every)
    if 4 * count <= EXACT_BYTES:
        return Packing()
    if 2 * count > MAX_BYTES:
        raise errors.InputError(
            f"The page would hold {count:,} weights, and the most is {MAX_BYTES // 2:,}: show "
            f"fewer layers, such as layers=(0, 1) of explore() or ExplorerOptions(), or a shorter "
            f"text."
        )
    least = min(float(array.min()) for array in every)
    most = max(max(float(array.max()) for array in every), 1.0)
    if least < 0:
        return Packing("int16", max(most, -least) / 32767)
    return Packing("uint16", most / 65535)
