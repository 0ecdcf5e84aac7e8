"""Many sentences with all their heads as one HTML page, without network or server."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from transformer.errors import InputError
from transformer.files import reading
from transformer.kinds import Kind
from transformer.trace import AttentionTrace
from viz.draw import caption, explorer
from viz.draw.formatting import counted
from viz.draw.heads_view import ExplorerOptions, shown_parts
from viz.report import (
    EACH_MAP,
    PageTheme,
    about_text,
    format_texts,
    heading,
    require_theme,
    saved_page,
)

MAX_BYTES = 256 * reading.MIB
"""Packed size of all sentences of a page: Chromium opens as much in some four seconds."""

MAX_LISTED = 8  # largest number of listed remarks above the sentence

_BODY = """<p>{about}</p>
{notes}<label for="line">Sentence</label>
<select id="line">{options}</select>
{texts}<p role="alert" hidden>This sentence cannot be read: the page is cut or damaged, so make it \
again.</p>
</header>
<main id="heads"></main>"""


@dataclass(frozen=True, eq=False)
class SentenceRecord:
    """One sentence as the page holds it; the trace itself need not be kept."""

    number: int  # of its line, from 1; the page's address names it
    text: str  # source and translation in the list of sentences
    texts: str  # the same with their languages, as HTML
    # what the page carries for the explorer, by the ends of their names: "" for the message, and
    # `.cross.2.5` for a head that is unpacked by itself
    blocks: Mapping[str, str]
    head_counts: Mapping[Kind, tuple[int, ...]]
    notes: tuple[str, ...]


def pack_sentence(
    number: int,
    trace: AttentionTrace,
    options: ExplorerOptions | None = None,
    origin: caption.Origin | None = None,
) -> SentenceRecord:
    """Pack a trace for the page; the number is that of its line, from 1."""
    options = options or ExplorerOptions()
    encoded = explorer.encode_page(trace, options, origin)
    return SentenceRecord(
        number,
        " → ".join(filter(None, (trace.source, trace.target))),
        format_texts(trace),
        {"": encoded.message, **{f".{name}": text for name, text in encoded.heads.items()}},
        {kind: trace.head_count(kind) for kind in shown_parts(options, trace).kinds},
        (*trace.notes, *encoded.notes),
    )


class LinesPage:
    """A page that grows by sentences, which it keeps packed."""

    def __init__(self, options: ExplorerOptions | None = None) -> None:
        self.options = options or ExplorerOptions()
        if self.options.layers is not None and not self.options.layers:
            raise InputError("There is no layer to show: name at least one.")
        self._bytes = 0
        self._sentences: list[SentenceRecord] = []

    def __len__(self) -> int:
        return len(self._sentences)

    def add(self, sentence: SentenceRecord) -> None:
        """Add one sentence; its number must be larger than the last one."""
        number, first = sentence.number, (self._sentences or [sentence])[0]
        if sentence.head_counts != first.head_counts:
            raise InputError(
                f"Sentence {number:,} has other heads than sentence {first.number:,}: "
                "give one report the sentences of one model."
            )
        self._bytes += sum(map(len, sentence.blocks.values()))
        if self._bytes > MAX_BYTES:
            raise InputError(
                f"With sentence {number:,} the report has more than {MAX_BYTES // reading.MIB:,} "
                "MiB, the most that one file may have: give fewer sentences, or several reports."
            )
        self._sentences.append(sentence)

    def html(
        self,
        *,
        title: str | None = None,
        theme: PageTheme = "auto",
        made_by: str = "",
        left_out: Sequence[str] = (),
    ) -> str:
        """Return the whole page; `left_out` are sentences on lines that are missing."""
        if not self._sentences:
            raise InputError("There is no sentence to show: give at least one.")
        first = f"{counted(len(self), 'sentence')}."
        about = about_text(first, made_by, EACH_MAP, self.options.lens)
        numbers: dict[str, list[int]] = {}  # of the sentences, by what is said of them
        for sentence in self._sentences:
            for note in sentence.notes:
                numbers.setdefault(note, []).append(sentence.number)
        notes = [f"{_numbers(noted)}: {note}" for note, noted in numbers.items()]
        options = "".join(
            f'<option value="{s.number}">#{s.number} {escape(s.text)}</option>\n'
            for s in self._sentences
        )
        texts = "".join(
            f'<div id="text-{s.number}" hidden>{s.texts}</div>\n' for s in self._sentences
        )
        return saved_page(
            "report",
            heading(self.options, "over many sentences") if title is None else title,
            theme,
            body=_BODY.format(
                about=escape(about),
                notes=_list(notes) + _list(left_out),
                options=options,
                texts=texts,
            ),
            blocks={
                f"line-{s.number}{end}": text
                for s in self._sentences
                for end, text in s.blocks.items()
            },
        )


def lines_report(
    traces: Iterable[AttentionTrace],
    options: ExplorerOptions | None = None,
    *,
    title: str | None = None,
    theme: PageTheme = "auto",
    origin: caption.Origin | None = None,
) -> str:
    """Make a self-contained page: a list of all traces, and one of them open.

    Traces are read one after another, and none is kept: an iterator of thousands is fine, as far
    as the page stays within `MAX_BYTES`.

    Args:
        traces: the traces of one model, at least one; those of `lens_trace`, where the options have
            a lens other than the weights.
        options: what is shown of each, and how; `ExplorerOptions()` unless given.
        title: heading of the page.
        theme: auto follows the user's system.
        origin: the model, if it is to be told; the texts in it are replaced by those of each trace.
    """
    require_theme(theme)
    page = LinesPage(options)
    for number, trace in enumerate(traces, start=1):
        own_origin = origin and replace(origin, source=trace.source, target=trace.target)
        page.add(pack_sentence(number, trace, page.options, own_origin))
    return page.html(title=title, theme=theme, made_by=origin.made_by if origin else "")


def _list(sentences: Sequence[str]) -> str:
    """Format a list of sentences, escaped; empty if there are none."""
    if not sentences:
        return ""
    shown = [*sentences[:MAX_LISTED]]
    if more := len(sentences) - len(shown):
        shown.append(f"… and {more:,} more.")
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in shown)}</ul>\n"


def _numbers(numbers: Sequence[int]) -> str:
    listed = ", ".join(f"#{number}" for number in numbers[:MAX_LISTED])
    return listed + (f" and {len(numbers) - MAX_LISTED:,} more" * (len(numbers) > MAX_LISTED))
