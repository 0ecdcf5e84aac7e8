"""Pairs are dropped for the reasons that were asked for, and counted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.data.cleaning import KEPT, REPEATED, TOO_LONG, UNLIKE, Cleaner, Cleaning, counts
from training.data.corpus import ParallelText

sides = st.text(st.sampled_from("ab  "), max_size=9)


def judged(pairs: list[tuple[str, str]], asked: Cleaning, size: int = 10**9) -> list[int]:
    """What becomes of each pair, looked at so many at a time."""
    cleaner = Cleaner(asked)
    for start in range(0, len(pairs), size):
        some = pairs[start : start + size]
        cleaner.judge(ParallelText([s for s, _ in some], [t for _, t in some]))
    return [int(reason) for reason in cleaner.reasons()]


def judged_one_by_one(pairs: list[tuple[str, str]], asked: Cleaning) -> list[int]:
    """The same, as a person would."""
    found = []
    seen = set()
    for source, target in pairs:
        few, many = sorted((len(source.split()), len(target.split())))
        if asked.longest_words is not None and many > asked.longest_words:
            found.append(TOO_LONG)
        elif asked.ratio is not None and few and many / few > asked.ratio:
            found.append(UNLIKE)
        elif asked.drop_duplicates and (source, target) in seen:
            found.append(REPEATED)
        else:
            found.append(KEPT)
            seen.add((source, target))
    return found


@given(
    st.lists(st.tuples(sides, sides), max_size=30),
    st.builds(
        Cleaning,
        longest_words=st.none() | st.integers(1, 4),
        ratio=st.none() | st.sampled_from([1.0, 1.5, 2.0]),
        drop_duplicates=st.booleans(),
    ),
    st.integers(1, 7),
)
def test_pairs_are_judged_as_one_by_one(
    pairs: list[tuple[str, str]], asked: Cleaning, size: int
) -> None:
    found = judged(pairs, asked, size)
    assert found == judged_one_by_one(pairs, asked)
    expected = {reason: found.count(reason) for reason in (TOO_LONG, UNLIKE, REPEATED)}
    assert counts(np.array(found, np.uint8)) == expected


def test_nothing_is_dropped_unless_it_is_asked_for() -> None:
    pairs = [("a " * 500, "b"), ("a", "b"), ("a", "b"), ("", "")]
    assert judged(pairs, Cleaning()) == [KEPT] * 4
    assert Cleaning().names() == {}
    assert Cleaning(250, 1.5, True).names() == {
        TOO_LONG: "with more than 250 words",
        UNLIKE: "with more than 1.5 times the words on one side",
        REPEATED: "that came before",
    }


def test_the_side_that_a_word_stands_on_counts() -> None:
    pairs = [("a b", "c"), ("a", "b c"), ("a b", "c")]
    assert judged(pairs, Cleaning(drop_duplicates=True)) == [KEPT, KEPT, REPEATED]
