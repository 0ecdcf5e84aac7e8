"""One rule for changed words, in Python and in the page: both read the cases of changed_words.json.

HEADLIGHT_RENEW=1 renews them.
"""

import json
import os
from pathlib import Path
from random import Random

from viz.draw.changed_words import word_changes

CASES = Path(__file__).parents[2] / "js" / "changed_words.json"


def changes(before: list[str], after: list[str]) -> list[list[str]]:
    """List each word as the page does."""
    return [
        [change, (before if change == "lost" else after)[index]]
        for change, index in word_changes(before, after)
    ]


def test_the_page_and_python_compare_words_alike() -> None:
    if os.environ.get("HEADLIGHT_RENEW") == "1":
        random = Random(1)
        pairs = [[random.choices("abcd", k=random.randrange(9)) for _ in "12"] for _ in range(120)]
        pairs.append([["ab", *"xaybzc"], [*"zaxbyc", "ab"]])
        lines = [json.dumps([*pair, changes(*pair)]) for pair in pairs]
        CASES.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    assert changes(["er", "kommt", "heute"], ["heute", "kommt", "sie"]) == [
        ["lost", "er"], ["moved", "heute"], ["same", "kommt"], ["new", "sie"],
    ]  # fmt: skip
    cases = json.loads(CASES.read_text("utf-8"))
    assert len(cases) > 100
    for before, after, listed in cases:
        assert changes(before, after) == listed
