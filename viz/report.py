"""One sentence with all its heads as one HTML page."""

from datetime import date
from html import escape
from typing import Any, get_args

from transformer.analysis.lenses import AnyLens
from transformer.decoding.hypothesis import SearchTree
from transformer.text.languages import Side, code_of_name
from transformer.trace import AttentionTrace
from transformer.translator import Translator
from viz.draw import explorer, formatting
from viz.draw.caption import LENS_NAMES, WITHOUT_SINKS, Origin, map_unit, tells_heads
from viz.draw.heads_view import ExplorerOptions, HeadsView, is_alone, shown_parts
from viz.draw.labels import capitalised
from viz.draw.left_out import left_out
from viz.findings import opening, ranked
from viz.findings.weights import chosen_head
from viz.saved_page import PageTheme, require_theme, saved_page
from viz.site.parts import costliest_heads, parts
from viz.site.pictures import player_and_links

MAX_FINDINGS = 3  # largest number of findings at the head of a page


def report(
    trace: AttentionTrace,
    options: ExplorerOptions | None = None,
    *,
    title: str | None = None,
    theme: PageTheme = "auto",
    origin: Origin | None = None,
    link: str = "",
    translator: Translator | None = None,
    tree: SearchTree | None = None,
) -> str:
    """Return a self-contained HTML page: the texts, the findings, every head, and one large map.

    With the translator that made the trace, the page also has the player, the links between words,
    and what the model writes without its costliest heads, unless the options choose a lens, a step
    or no sinks.

    The page stores up to 64 MiB of weights exactly, in float32 (`EXACT_BYTES` of
    `viz.draw.explorer`). Beyond that, it rounds them to 16 bits and says so. The page has no heads
    that the options leave out of the grid.

    Args:
        trace: a trace of any model; for options with a lens other than the weights, the result of
            `lens_trace`.
        options: the options of the explorer; by default, it opens the head of the first finding.
        title: the heading of the page; by default, it says what is shown, and through which lens.
        theme: the theme; "auto" follows the notebook, or the user's system.
        origin: the sentence and the model that the page names.
        link: the address at which the app shows the same.
        translator: the translator that made the trace.
        tree: the search for the translation, whose kept beginnings the player shows:
            `translator.translate(text, tree=True).tree`.

    Raises:
        InputError: if there is no such kind, layer, head or theme, or no token is left to show; if
            there are more weights than a browser opens.
    """
    require_theme(theme)
    options = options or first_options(trace)
    if translator:
        origin = origin or Origin.from_translator(translator, trace.source, trace.target)
    encoded = explorer.encode_page(trace, options, origin)
    notes = [*trace.notes, *encoded.notes]
    if not options.sinks:
        view = HeadsView(trace, options)
        notes.append(left_out(trace, view.kind, view.options))
    lines = "".join(f'<p class="note">{escape(note)}</p>\n' for note in notes)
    head = f"{_texts(trace)}{_worth_seeing(trace, options)}{lines}"
    head += f"<p>{_about(trace, options, origin, link)}</p>\n</header>\n"
    main, blocks = '<main id="heads"></main>', encoded.heads
    if with_parts := translator is not None and _of_whole_sentence(options):
        main = f"""<main>
{parts(costliest_heads(translator, trace))}<section id="heads"><h2>Every head</h2>
<div data-picture="weights"></div></section>
</main>"""
        blocks = {**player_and_links(translator, trace, tree), **blocks}
    return saved_page(
        "site" if with_parts else "report",
        heading(options) if title is None else title,
        theme,
        body=head + main,
        message=("weights", encoded.message),
        blocks=blocks,
        style="report.css",
    )


def first_options(trace: AttentionTrace, **chosen: Any) -> ExplorerOptions:
    """Return options that open the head that All heads opens in the app, unless others are chosen.

    The trace is the one that the lens has not changed.
    """
    options = ExplorerOptions(**chosen)
    kind, layer, head = opening(trace, shown_parts(options, trace).kind)
    place = {"kind": kind, "layer": layer, "head": head if tells_heads(options.lens) else None}
    return ExplorerOptions(**{**place, **chosen})


def _of_whole_sentence(options: ExplorerOptions) -> bool:
    """Return whether a page shows the weights of a whole sentence, as findings and parts do."""
    return options.lens == "weights" and options.sinks and options.step is None


def _texts(trace: AttentionTrace) -> str:
    """Format the source and the translation, with their languages where known."""
    lines = [
        f'<dt>{escape(name)}</dt><dd dir="auto" lang="{code}">{escape(text)}</dd>'
        for (name, code), text in zip(text_sides(trace), (trace.source, trace.target), strict=True)
        if text
    ]
    return f"<dl>{''.join(lines)}</dl>\n" if lines else ""


def _worth_seeing(trace: AttentionTrace, options: ExplorerOptions) -> str:
    """Format the findings on a trace as buttons, each of which opens its head."""
    if not _of_whole_sentence(options):
        return ""
    _, kinds, layers = shown_parts(options, trace)
    heads = [(chosen_head(finding.choices), finding.text) for finding in ranked("heads", trace)]
    buttons = [
        f'<li><button data-head="{".".join(map(str, head))}">{escape(text)}</button></li>\n'
        for head, text in heads
        if head.kind in kinds and head.layer in layers
    ]
    shown = "".join(buttons[:MAX_FINDINGS])
    return f"<h2>Worth seeing</h2>\n<ul>\n{shown}</ul>\n" if shown else ""


def heading(options: ExplorerOptions, extent: str = "") -> str:
    """Return the heading of a page; only weights say where a head looks."""
    end = "" if options.sinks else f", {WITHOUT_SINKS}"
    if options.lens == "weights":
        return f"Where each head looks, {extent}".rstrip(", ") + end
    unit = "head" if tells_heads(options.lens) else "layer"
    return f"Each {unit} {extent}".rstrip() + f", seen through {LENS_NAMES[options.lens]}{end}"


def _about(
    trace: AttentionTrace, options: ExplorerOptions, origin: Origin | None, link: str
) -> str:
    """Describe log probability, model, date, lens and address in sentences, escaped."""
    first = ""
    if pieces := len(trace.log_probs):
        log_p = formatting.format_number(float(trace.log_probs.sum()))
        name = "text" if is_alone(trace) else trace.languages.name("target")
        first = f"Log probability of the {name}: {log_p} ({formatting.counted(pieces, 'subword')})."
    maps = "Each small map is one {unit}; choose one to open it."
    text = about_text(first, origin.made_by if origin else "", maps, options.lens)
    way = f'<br><a href="{escape(link)}">The same in the app</a>' if link else ""
    return escape(text) + way


def about_text(first: str, made_by: str, maps: str, lens: AnyLens) -> str:
    """Join a first sentence, program and date, a sentence on each {unit}, and one on the lens."""
    date_text = made_by and f"Made by {made_by}, on {date.today().isoformat()}."
    lens_text = f"The lens is {LENS_NAMES[lens]}, not the weights themselves."
    parts = [first, date_text, maps.format(unit=map_unit(lens)), lens_text]
    return " ".join(filter(None, parts[:3] if lens == "weights" else parts))


def text_sides(trace: AttentionTrace) -> list[tuple[str, str]]:
    """Name source and target, or “Text” for one alone; with the language's code, "" if unknown."""
    names = [trace.languages.name(side) for side in get_args(Side)]
    alone = is_alone(trace)
    return [("Text" if alone else capitalised(name), code_of_name(name)) for name in names]
