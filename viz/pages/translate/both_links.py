"""Links between words by two models, one for each direction."""

from typing import NamedTuple

from streamlit.delta_generator import DeltaGenerator

from transformer import AttentionTrace, HeadlightError, Translator
from transformer.analysis import alignment_settings, both_directions
from transformer.text.languages import Languages
from viz.app.cache import memory
from viz.app.chrome.fields import choose_one
from viz.app.chrome.problems import say
from viz.app.models import menu
from viz.app.view import compute, list_file, name_model
from viz.draw.formatting import counted
from viz.draw.labels import ROW_VERBS, quoted
from viz.draw.word_links import map_text

LINKS = "links"  # name in the URL of the choice between one model's links and those of both
THIS_MODEL, BOTH = "this model", "both directions"

TITLE = "Which words both models link"
DASHED = "one model’s link that both together do not make"

_RULES: dict[both_directions.Rule, str] = {
    "intersection": "both models link the words",
    "union": "either model links the words",
    "grow-diag": "both models link the words, or one does and the link extends theirs (grow-diag)",
    "product": "each word is the other’s strongest match by the product of both models’ shares",
}


class BothLinks(NamedTuple):
    """The links of two models on the sentence in the bar."""

    model: str  # the second model in the menu
    settings: both_directions.BothSettings
    shares: both_directions.BothShares


def pick_both(
    translator: Translator, trace: AttentionTrace, problems: DeltaGenerator
) -> BothLinks | None:
    """Draw the choice of links if there is a reverse model; return the links of both models."""
    offered = menu.offered_models()
    name = menu.reverse_of(translator.languages, offered)
    if not name or choose_one("Links from", (THIS_MODEL, BOTH), LINKS, labelled=True) == THIS_MODEL:
        return None
    with problems:
        try:
            reverse = menu.load(offered.folders[name])
            settings = settings_of_both(translator, reverse)
            name_model("reverse", name, reverse)
            read = both_directions.read_both
            list_file("both_settings", settings, settings, read, translator, reverse)
            measure = both_directions.both_shares
            shares = compute("aligned", measure, translator, reverse, trace, settings)
        except HeadlightError as error:
            say(error)
            return None
    return BothLinks(name, settings, shares)


def settings_of_both(translator: Translator, reverse: Translator) -> both_directions.BothSettings:
    """Return the settings of both models, read again, which takes long, only after a change."""
    paths = (
        translator.folder / both_directions.FILE,
        *(m.folder / alignment_settings.FILE for m in (translator, reverse)),
    )
    files = tuple((str(path), memory.state_of_file(path)) for path in paths)
    key = ("settings of both", translator.checksum, reverse.checksum, files)
    return memory.memo(key, lambda: both_directions.read_both(translator, reverse))


def both_method(links: BothLinks, languages: Languages) -> str:
    """Describe a link, the two maps and the rows that it is read from, and its measured error."""
    settings, model = links.settings, quoted(links.model)
    rate = "These two models were never compared with links that people drew."
    if (gold := settings.gold) is not None:
        sentences = counted(gold.sentences, "hand-aligned sentence")
        rate = f"Solid links: {gold.aer:.0f} % alignment error on {sentences}, the half of "
        rate += f"{gold.name} that chose neither map nor rule."
    forward, reverse = settings.forward, settings.reverse
    source, target = languages.name("source"), languages.name("target")
    return (
        f"A solid link: {_RULES[settings.rule]}. This model: {map_text(forward)} when the decoder "
        f"{ROW_VERBS[forward.row]} the {target} word. {model}, which translates back: "
        f"{map_text(reverse)} when its decoder {ROW_VERBS[reverse.row]} the {source} word. "
        f"{rate}"
    )
