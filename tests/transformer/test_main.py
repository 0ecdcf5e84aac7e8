import codecs
import io
import shutil
import sys

import pytest

from tests.transformer.reference import is_one_sentence
from transformer import __main__
from transformer.analysis import alignment, alignment_settings, both_directions
from transformer.analysis.both_directions import BothSettings, align_both

TEXT = "The dog waits beside the river."
LINES = ["The dog waits.", "", "   ", "A small bird sings in the garden.", "", "Ein Bär."]


def test_standard_input_is_translated_line_by_line_in_utf8_whatever_the_locale(
    run, translator, monkeypatch
):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "latin-1", "strict"))
    status, _, err = run("--beam", "1", stdin="\n".join(LINES).encode() + b"\n", encoding="latin-1")
    translations = {
        n: translator.translate(t, beam_size=1) for n, t in enumerate(LINES) if t.strip()
    }
    expected = [translations[n].text if n in translations else "" for n in range(len(LINES))]
    noticed = [
        f"Line {n + 1}: {notice}" for n in translations for notice in translations[n].notices
    ]
    assert written.getvalue().decode() == "\n".join(expected) + "\n"
    assert err.splitlines() == noticed != []
    assert status == 0


@pytest.fixture
def run(checkpoint_folder, monkeypatch, capsys):
    """The command without a process of its own: (status, stdout, stderr)."""

    def run(*arguments, stdin=b"", encoding="utf-8"):
        text = io.TextIOWrapper(io.BytesIO(stdin), encoding)
        monkeypatch.setattr(sys, "stdin", text)
        try:
            status: object = __main__.main(["--checkpoint", str(checkpoint_folder), *arguments])
        except SystemExit as left:  # as argparse does
            status = left.code
        return (status, *capsys.readouterr())

    return run


def test_a_sentence_is_translated(run, translator):
    assert run(TEXT)[:2] == (0, translator.translate(TEXT).text + "\n")


def test_notices_of_lines_have_their_numbers(run, translator):
    texts = ["The 😀 dog", "", "The old cat, the dog waits.", "dog " * 999]
    noticed = [translator.translate(text, max_length=3).notices for text in texts[:3:2]]
    assert [len(notices) for notices in noticed] == [2, 2]
    for options in ([], ["--n-best", "2"], ["--align"]):
        given = [*options, "--max-length", "3"]
        status, _, err = run(*given, stdin="\n".join(texts).encode())
        *lines, refused = err.splitlines()
        assert lines == [
            f"Line {number}: {notice}"
            for number, notices in zip((1, 3), noticed, strict=True)
            for notice in notices
        ]
        assert refused.startswith("headlight translate: Line 4: The text has ")
        assert status == 2


def test_a_byte_order_mark_is_no_character_of_a_line(run):
    plain = run(stdin=b"The dog waits.\nA bird sings.\n")
    assert run(stdin=b"\xef\xbb\xbfThe dog waits.\nA bird sings.\n") == plain
    assert run(stdin=b"The dog waits.\n\xef\xbb\xbfA bird sings.\n") == plain
    assert "U+FEFF" in run(stdin=b"The dog waits.\nA \xef\xbb\xbfbird sings.\n")[2]


def test_utf_16_is_refused_whole(run):
    status, out, err = run(stdin="The dog waits.\nA bird sings.\n".encode("utf-16-be"))
    assert (status, out) == (2, "")
    assert err.startswith("headlight translate: Standard input is UTF-16")
    assert err.count("\n") == 1


def test_bad_lines_are_empty_and_named_and_all_others_are_there(run, translator):
    good = ["The dog waits.", "A bird sings.", "Her horse eats."]
    long = b"dog " * 999
    # cut after so many characters, the last ones look blank and "Hello"
    cut = [b" " * 600_000 + b"A dog.", b"Hello" + b"\r" * 300_000 + b" world"]
    bad = [b"A \xff bird.", long, b"x" * 9_999_999, "你".encode() * 99_999, *cut]
    lines = [good[0].encode()] * 40 + bad + [good[1].encode(), b"", good[2].encode()]
    status, out, err = run("--beam", "1", stdin=b"\n".join(lines))
    first, second, third = (translator.translate(text, beam_size=1).text for text in good)
    assert out.split("\n") == [first] * 40 + [""] * 6 + [second, "", third, ""]
    assert status == 2
    named = [f"headlight translate: Line {number}: The text has " for number in range(41, 47)]
    messages = [line for line in err.splitlines() if ": The text has " in line]
    assert [line[: len(start)] for line, start in zip(messages, named, strict=True)] == named
    assert ["more than" in line for line in messages] == [False, False, True, True, True, True]
    assert all(is_one_sentence(line) and len(line) < 200 for line in err.splitlines())


def test_word_pairs_follow_each_translation_in_pharaoh_format(run, translator):
    typed = "The  old cat, the dog waits."
    trace = translator.trace(typed)
    pairs = alignment.align(translator, trace, words="typed")
    assert pairs
    assert all(p.source < 6 and p.target < len(trace.target.split()) for p in pairs)
    numbers = " ".join(sorted(f"{p.source}-{p.target}" for p in pairs))
    status, out, _ = run("--align", typed)
    text, _, links = out.removesuffix("\n").partition(" ||| ")
    assert (status, text) == (0, trace.target)
    assert " ".join(sorted(links.split())) == numbers
    long = "dog " * 999
    status, out, err = run("--align", stdin=f"{typed}\n\n{long}\n{typed}\n".encode())
    lines = out.split("\n")
    assert lines[1:3] == ["", ""]
    assert lines[0] == lines[3]
    assert lines[0].startswith(f"{translator.translate_lines([typed])[0]} |||")
    assert status == 2
    assert "headlight translate: Line 3: The text has " in err
    # what is cut by the limit ends where it was cut
    cut = ["--align", "--max-length", "4"]
    typed = "A small bird eats beside the river."
    assert run(*cut, stdin=typed.encode())[1] == run(*cut, typed)[1]


def test_word_pairs_of_both_directions(run, translator, reverse, checkpoint_folder, tmp_path):
    typed = "The  old cat, the dog waits."
    own = shutil.copytree(checkpoint_folder, tmp_path / "model")
    map_ = alignment_settings.AlignmentSettings(1, None, "writes", "norm", "each")
    settings = BothSettings(map_, map_, "union")
    (own / both_directions.FILE).write_text(settings.to_json(reverse))
    trace = translator.trace(typed)
    pairs, others = (
        alignment.pharaoh(align_both(translator, reverse, trace, settings, words=words))
        for words in ("typed", "pieces")
    )
    assert pairs != others
    written = f"{trace.target} ||| {pairs}\n"
    options = ["--checkpoint", str(own), "--align", "--reverse", str(reverse.folder)]
    assert run(*options, typed)[:2] == (0, written)
    assert run(*options, stdin=f"{typed}\n".encode())[:2] == (0, written)
    for wrong in (["--reverse", str(reverse.folder)], ["--align", "--reverse", str(own)]):
        status, out, _ = run(*wrong, stdin=b"A dog.\n")
        assert (status, out) == (2, "")


@pytest.mark.parametrize("both", [False, True])
def test_a_given_translation_is_aligned_and_prints_its_pairs_alone(
    run, translator, reverse, tmp_path, both
):
    texts = ["The  old cat, the dog waits.", "", "A small bird eats.", " \t", "Her horse 😀."]
    targets = ["Die  alte Katze, der Hund wartet.", "", "Ein kleiner Vogel isst.", "", "Ihr Pferd."]
    options = ["--align", *(["--reverse", str(reverse.folder)] if both else [])]
    expected = []
    for text, target in zip(texts, targets, strict=True):
        if not text.strip():
            expected.append("")
            continue
        trace = translator.trace(text, target)
        pairs = (
            align_both(translator, reverse, trace, words="typed")
            if both
            else alignment.align(translator, trace, words="typed")
        )
        assert pairs or both
        assert all(p.source < len(text.split()) and p.target < len(target.split()) for p in pairs)
        expected.append(alignment.pharaoh(pairs))
        status, out, _ = run(*options, "--target", target, text)
        assert (status, out) == (0, f"{expected[-1]}\n")
    (tmp_path / "de").write_bytes(codecs.BOM_UTF8 + "\r\n".join(targets).encode())
    lines = "\n".join(texts).encode()
    status, out, err = run(*options, "--targets", str(tmp_path / "de"), stdin=lines)
    assert (status, out.split("\n")) == (0, [*expected, ""])
    assert "Line 5: The vocabulary has no “⁨😀⁩”" in err
    (tmp_path / "en").write_bytes(lines)
    status, out, _ = run(*options, "--targets", str(tmp_path / "en"), stdin=lines)
    assert (status, len(out.splitlines())) == (0, 5)
    status, _, err = run(*options, "--targets", "-", stdin=lines)
    assert (status, "cannot both be standard input" in err) == (2, True)
    for content, problem in (
        (targets[:3], "de ends before line 4"),
        ([*targets, "Mehr."], "Standard input ends before line 6"),
        ([targets[0], "Mehr.", *targets[2:]], "headlight translate: Line 2: The text is empty"),
        ([*targets[:4], ""], "headlight translate: Line 5: The translation is empty"),
        (["<tstset>", *targets[1:]], "de is SGML or XML"),
    ):
        (tmp_path / "de").write_text("\n".join(content) + "\n")
        status, _, err = run(*options, "--targets", str(tmp_path / "de"), stdin=lines)
        assert (status, problem in err) == (2, True)


def test_what_steers_the_search_reaches_it_for_a_text_and_for_lines(run, translator):
    steered = {"prefix": "Die", "forbidden": ["Garten"], "max_length": 9, "alpha": 1.5}
    options = ["--prefix", "Die", "--forbid", "Garten", "--max-length", "9", "--alpha", "1.5"]

    def shown(**arguments):
        best = translator.translate(TEXT, beam_size=3, **arguments).best
        return f"0 ||| {best.text} ||| {best.hypothesis.score:.4f}\n"

    expected = shown(**steered)
    for name in steered:  # each of them matters
        assert expected != shown(
            **{option: steered[option] for option in steered if option != name}
        ), name
    command = ["--beam", "3", "--n-best", "1", *options]
    assert run(*command, TEXT)[:2] == (0, expected)
    assert run(*command, stdin=f"{TEXT}\n".encode())[:2] == (0, expected)


def test_the_n_best_stand_in_lines_of_moses(run, translator):
    candidates = translator.translate(TEXT).candidates[:3]
    expected = [
        f"{candidate.text} ||| {candidate.hypothesis.score:.4f}" for candidate in candidates
    ]
    status, out, _ = run("--n-best", "3", TEXT)
    assert (status, out.splitlines()) == (0, [f"0 ||| {line}" for line in expected])
    status, out, err = run(
        "--n-best", "3", stdin=f"\n\udcff\n{TEXT}\n".encode(errors="surrogateescape")
    )
    assert (status, out.splitlines()) == (2, [f"2 ||| {line}" for line in expected])
    assert err.startswith("headlight translate: Line 2: ")


def test_a_given_translation_is_scored_piece_by_piece(run, translator):
    scored = translator.score(f"{TEXT} 😀", "Der Hund wartet.")
    status, out, err = run("--score", "--target", "Der Hund wartet.", f"{TEXT} 😀")
    rows = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert [name for name, _ in rows] == [*(piece.text for piece in scored.pieces), "log P"]
    assert err.splitlines() == list(scored.translation.notices) != []
    values = [float(value) for _, value in rows]
    assert values == pytest.approx([*scored.log_probs, scored.log_prob], abs=1e-4)
    assert values[-1] == pytest.approx(sum(values[:-1]), abs=1e-2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--score", TEXT],
        ["--target", "Der Hund.", TEXT],
        ["--score", "--target", "Der Hund."],
        ["--targets", __file__],
        ["--align", "--target", "Der Hund."],
        ["--align", "--targets", __file__, TEXT],
        ["--align", "--target", "Der Hund.", "--targets", __file__],
        ["--align", "--target", "Der Hund.", "--targets", __file__, TEXT],
        ["--align", "--target", "Der Hund.", "--beam", "2", TEXT],
        ["--align", "--targets", __file__, "--alpha", "0"],
        ["--align", "--targets", "-"],
        ["--score", "--targets", __file__, TEXT],
        *(
            ["--score", "--target", "Ein Hund.", *options, TEXT]
            for options in (["--align"], ["--beam", "4"])
        ),
        ["--n-best", "2", "--align", TEXT],
        ["--align", "--reverse", "no folder", TEXT],
        ["--prefix", "😀", TEXT],
        ["--prefix", "Der Hund wartet", "--forbid", "Hund"],
        ["--alpha", "nan", TEXT],
    ],
)
def test_options_that_make_no_sense_are_one_sentence_and_no_lines_fault(run, arguments):
    status, out, err = run(*arguments, stdin=b"The dog waits.\n")
    assert (status, out) == (2, "")
    sentence = err.rstrip("\n").splitlines()[-1]
    assert "Traceback" not in err
    assert sentence.startswith("headlight translate: error: ") or is_one_sentence(sentence)
    assert "Line " not in sentence
