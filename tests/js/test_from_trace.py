"""What the browser makes of a trace is what Python draws of it: every text, colour and number."""

import base64
import gzip
import json
import subprocess
from pathlib import Path

import pytest

from transformer import Translator
from transformer.analysis.alignment import aligned_shares, strongest
from transformer.analysis.alignment_settings import AlignmentSettings, read_alignment
from transformer.files.installed import BUNDLED_BY_NAME
from viz.draw import explorer, palette, player, watched, wire, word_links
from viz.draw.caption import Origin, head_caption
from viz.draw.heads_view import ExplorerOptions, HeadsView
from viz.draw.trace_message import about, kept_beginnings, trace_fields
from viz.pages.translate.maps import link_summary

SCRIPT = Path(__file__).with_name("from_trace.mjs")
LONG = (
    "The committee that was appointed last year by the government of the city has decided, after "
    "a long and rather heated discussion with all of the parties, that the old bridge over the "
    "river, which had been closed to traffic since the flood, should be repaired before winter "
    "and not be replaced by a new one, as many people had hoped."
)
SENTENCES = {
    "bundled": [
        "A man rides a horse.",
        "My friends don't think that the old house is empty.",
        "“Ⅷ 100 % 🐶!” (née) <unk> שלום",
        LONG,
    ],
    "bundled-de-en": ["Der Hund schläft.", "Er hat gestern Abend in der alten Küche gekocht."],
}


WHOLE_LAYER = AlignmentSettings(2, None, "writes", "weights", "mutual")


def golden(translator: Translator, text: str, settings: AlignmentSettings) -> bytes:
    found = translator.translate(text, tree=True)
    trace = translator.trace_of(found)
    origin = Origin.from_translator(translator, trace.source, trace.target)
    shares = aligned_shares(translator, trace, settings)
    every, mutual = strongest(shares, "each"), strongest(shares, "mutual")
    pieces = [piece.text for piece in trace.target_pieces]
    steps = watched.search_steps(translator.score(text, pieces, alternatives=watched.OPTIONS))
    first = watched.watched_heads(trace, mutual)
    head = None if settings.head is None else (settings.layer, settings.head)
    options = ExplorerOptions(*first["cross"])
    page = explorer.encode_page(trace, options, origin)
    view = HeadsView(trace, options)
    beside = about(trace.languages, origin.made_by, settings)
    assert found.tree is not None
    message = {
        "trace": trace_fields(
            trace, steps, beginnings=kept_beginnings(found.tree, translator.target_tokenizer)
        ),
        "about": {**beside, "roles": {part.kind: part.roles for part in view.parts}},
        "opened": first["cross"],
        "difference": palette.theme_tables(None),
        "player": player.encode_player(
            trace,
            steps,
            selected=first,
            links=watched.piece_links(trace, mutual, every),
            linked=player.Linked(head, link_summary(settings)),
            breaks=True,
            arrival=3,
            caption=origin.caption("What every head looks at, step by step of the search."),
        ),
        "links": word_links.encode_links(
            word_links.word_texts(trace.source_pieces),
            word_links.word_texts(trace.target_pieces),
            every,
            mutual=mutual,
            made_by=word_links.map_text(settings),
            languages=trace.languages,
            caption=origin.caption(
                head_caption("cross", settings.layer, settings.head, settings.lens)
            ),
        ),
        "explorer": gzip.decompress(base64.b64decode(page.message)),
    }
    return wire.encode(message)


@pytest.mark.slow
def test_pictures_of_a_trace_are_those_that_python_encodes(node: list[str], tmp_path: Path) -> None:
    files: list[Path] = []
    for name, sentences in SENTENCES.items():
        translator = Translator.load(BUNDLED_BY_NAME[name])
        for text in sentences:
            files.append(tmp_path / f"{len(files)}")
            settings = read_alignment(translator)
            files[-1].write_bytes(golden(translator, text, settings))
        files.append(tmp_path / f"{len(files)}")
        files[-1].write_bytes(golden(translator, sentences[0], WHOLE_LAYER))
    run = subprocess.run([*node, str(SCRIPT), *map(str, files)], capture_output=True, check=True)
    compared = json.loads(run.stdout)
    assert compared["differences"] == {}
    assert compared["numbers"] > 10**5
