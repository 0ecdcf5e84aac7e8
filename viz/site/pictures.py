"""A translation with its pictures, packed as texts of a page."""

from dataclasses import dataclass, field, replace
from html import escape

from transformer import AttentionTrace, Translator
from viz.draw import explorer
from viz.draw.caption import Origin
from viz.report import first_options
from viz.sentence_parts import languages, part_pictures


@dataclass(frozen=True, eq=False)
class Pictures:
    """Player, links and heads of a translation."""

    trace: AttentionTrace
    made_by: str
    blocks: dict[str, str] = field(repr=False)  # by the ids of their elements

    @property
    def texts(self) -> tuple[str, str]:
        """The sentence and its translation as HTML, each in its language."""
        source, target = languages(self.trace)
        return (
            f'<span lang="{source}" dir="auto">{escape(self.trace.source)}</span>',
            f'<span lang="{target}" dir="auto">{escape(self.trace.target)}</span>',
        )


def pictures(translator: Translator, text: str) -> Pictures:
    """Translate a sentence and encode its pictures."""
    translation = translator.translate(text)
    trace = translator.trace_of(translation)
    trace = replace(trace, notes=(*trace.notes, *translation.notices))
    origin = Origin.from_translator(translator, trace.source, trace.target)
    heads = explorer.encode_page(trace, first_options(trace), origin, carried=True)
    blocks = {**part_pictures(translator, trace), "heads-data": heads.message, **heads.heads}
    return Pictures(trace, origin.made_by, blocks)
