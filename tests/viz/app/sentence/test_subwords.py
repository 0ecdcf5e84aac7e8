"""The table of subwords: ids that the model reads, and how each was cut."""

import re
from html import unescape

from tests.transformer.checkpoints.marian import marian_folder
from tests.viz.pages.reading import html
from transformer import Translator
from transformer.files.installed import BUNDLED
from viz.app.sentence import subwords

HOSTILE = "A <b>dog</b> & ☃ 雪 **runs** $x$ <script>alert(1)</script>."


def rows(app) -> list[list[str]]:
    """Cells of the first table of subwords, source before target, without headings."""
    assert not app.exception
    text = next(text for text in html(app) if "headlight-subwords" in text)
    lines = re.findall(r"<tr>((?:<td>.*?</td>)+)</tr>", text, flags=re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", row)] for row in lines]


def test_each_piece_has_the_id_that_the_model_reads(serve, bundled) -> None:
    app = serve("translate", checkpoint=BUNDLED, text="The dog sleeps.")
    translation = bundled.translate("The dog sleeps.")
    pieces = [*translation.source_pieces, *translation.best.pieces]
    wanted = [[p.text.replace("</s>", "end"), str(p.id)] for p in pieces]
    assert [row[:2] for row in rows(app)] == wanted
    by_text = {row[0]: row[2] for row in rows(app)}
    assert by_text["end"] == ""
    assert all("".join(how.split(" + ")) == text for text, how in by_text.items() if " + " in how)
    assert by_text["▁dog"] == "▁do + g"
    assert sum("headlight-subwords" in text for text in html(app)) == 2  # bar and page


def test_the_table_is_made_once(serve, monkeypatch) -> None:
    cuts: list[str] = []

    def cut(_tokenizer, piece) -> str:
        cuts.append(piece.text)
        return ""

    monkeypatch.setattr(subwords, "_describe_origin", cut)
    app = serve("translate", text="The dog sleeps.")
    count = len(cuts)
    assert count == len(rows(app))
    app.run()
    assert len(cuts) == count


def test_unknown_characters_show_their_bytes_and_nothing_is_interpreted(serve, bundled) -> None:
    app = serve("masks", checkpoint=BUNDLED, text=HOSTILE)
    pieces = bundled.translate(HOSTILE).source_pieces
    shown = rows(app)[: len(pieces)]
    assert [row[0] for row in shown] == [*(piece.text for piece in pieces[:-1]), "end"]
    unknown = {row[0].removeprefix("▁"): row[1:] for row in shown if row[1] == "1"}
    assert unknown["☃"] == ["1", "unknown: E2 98 83"]
    assert unknown["雪"] == ["1", "unknown: E9 9B AA"]
    table = next(text for text in html(app) if "headlight-subwords" in text)
    assert not re.search(r"<(?!/?(div|p|table|thead|tbody|tr|th|td)\b)", table)


def test_a_unigram_model_shows_log_p_of_each_piece(serve, tmp_path) -> None:
    folder = marian_folder.write(tmp_path / "m", separate=True)
    translator = Translator.load(folder)
    app = serve("masks", checkpoint=folder, text=marian_folder.SOURCE[0])
    pieces = translator.tokenizer.pieces(marian_folder.SOURCE[0])
    for row, piece in zip(rows(app), pieces, strict=False):
        assert row[1] == str(piece.id)
        score = translator.tokenizer.score(piece.text)
        assert row[2] == f"{score:.2f}".replace("-", "−")
    assert any("<p>Unigram" in text for text in html(app))
