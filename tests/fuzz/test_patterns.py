"""Regular expressions of the corpus search: each ends soon, in little memory, as `re` has it."""

import os
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.fuzz.bounds import accepted_or_refused, examples
from transformer import InputError, Translator
from transformer.corpus import result_file, search
from transformer.corpus.measured import MeasuredLines
from transformer.corpus.search import LinePatterns, matching_rows
from transformer.files.installed import BUNDLED

SECONDS, MEGABYTES, LONGEST = 3, 64, 20_000

ATOMS = (
    r". a ü ß D \w \d \s \W \D \S [aeiou] [^a-z] [\w-] [äöü\s] \. (?:er|en) (?i:HUND) [[:alpha:]]"
)
SHARED = st.recursive(
    st.sampled_from([atom for atom in ATOMS.split() if atom != "[[:alpha:]]"]),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map("".join),
        st.tuples(parts, st.sampled_from(["?", "+", "{2}", "{1,3}"])).map("(?:%s)%s".__mod__),
        st.tuples(parts, parts).map("(?:%s|%s)".__mod__),
    ),
    max_leaves=6,
)
"""Patterns that mean the same here and in Python."""

HOSTILE = st.recursive(
    st.text(max_size=8)
    | st.sampled_from(
        [
            *ATOMS.split(),
            *r"(?R) (?V1) (?a)(?u) (?<=a) \1 \pL [\W] \Q \C \b ( ) [ ] { } \x{10ffff}".split(),
        ]
    ),
    lambda parts: st.one_of(
        st.lists(parts, max_size=4).map("".join),
        st.tuples(parts, st.sampled_from("* + ? {1000} {999999999} {2,1000} {,}".split())).map(
            "(%s)%s".__mod__
        ),
        # cut here: repeated again and again, a text would fill the memory before it is tried
        st.tuples(parts, st.integers(1, 5_000)).map(lambda pair: (pair[0] * pair[1])[:LONGEST]),
    ),
    max_leaves=8,
).map(lambda pattern: pattern[:LONGEST])


@pytest.fixture(scope="module")
def measured() -> tuple[Translator, MeasuredLines]:
    translator = Translator.load(BUNDLED)
    content = (BUNDLED / result_file.FILE).read_bytes()
    return translator, result_file.from_bytes(content, translator)


def megabytes() -> float:
    pages = Path("/proc/self/statm").read_text("utf-8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"(?:b|b){999999}", "(?V0)(?V1)", "(a{1000}){1000}", r"(?:\pL\pN?){500}", "(?<=a)b", "["),
        *("\ud800", r"[^\W\d]+", r"\bÜber", "*" * 900, "(ÍÕQ_){2,1000}" * 1_400, r"\w" * 9_000),
    ],
)
def test_a_pattern_that_is_refused_is_so_at_once(
    measured: tuple[Translator, MeasuredLines], pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before, began = megabytes(), time.process_time()
    with pytest.raises(InputError) as error:
        matching_rows(*measured, LinePatterns(source=pattern))
    assert time.process_time() - began < 1
    assert megabytes() - before < MEGABYTES
    assert repr(pattern)[1:4] in str(error.value)
    assert str(error.value).count(". ") == 0
    assert capfd.readouterr().err == ""  # the log has nothing of what people type


def test_a_limit_counts_the_time_of_a_core_and_no_wait(
    measured: tuple[Translator, MeasuredLines], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(_text: bytes) -> None:
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            pass

    monkeypatch.setattr(search, "SECONDS", 0.2)
    monkeypatch.setattr(
        "re2.compile", lambda *_: SimpleNamespace(search=lambda _text: time.sleep(0.002))
    )
    assert matching_rows(*measured, LinePatterns(source="a")).size == 0
    monkeypatch.setattr("re2.compile", lambda *_: SimpleNamespace(search=compute))
    with pytest.raises(InputError):
        matching_rows(*measured, LinePatterns(source="a"))


@examples(8, 20_000)
@given(pattern=HOSTILE)
def test_no_pattern_holds_or_ends_the_server(
    measured: tuple[Translator, MeasuredLines], pattern: str
) -> None:
    before, began = megabytes(), time.process_time()
    with accepted_or_refused():
        matching_rows(*measured, LinePatterns(source=pattern, pieces=pattern))
    assert time.process_time() - began < SECONDS
    assert megabytes() - before < MEGABYTES


@examples(50, 20_000)
@given(pattern=SHARED)
def test_a_pattern_matches_what_it_matches_in_python(
    measured: tuple[Translator, MeasuredLines], pattern: str
) -> None:
    translator, lines = measured
    rows = matching_rows(translator, lines, LinePatterns(target=pattern))
    expected = [row for row, pair in enumerate(lines.pairs) if re.search(pattern, pair.target)]
    event("accepted")
    assert rows.tolist() == expected
