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
    """List each word as the page does: the same, lost or new; lost ones before new ones."""
    listed = []
    for change, first, last, start, end in word_changes(before, after):
        if change == "equal":
            listed += [["same", word] for word in after[start:end]]
        else:
            listed += [["lost", word] for word in before[first:last]]
            listed += [["new", word] for word in after[start:end]]
    return listed


def test_the_page_and_python_compare_words_alike() -> None:
    if os.environ.get("HEADLIGHT_RENEW") == "1":
        random = Random(1)
        pairs = [[random.choices("abcd", k=random.randrange(9)) for _ in "12"] for _ in range(120)]
        pairs.append([["ab", *"xaybzc"], [*"zaxbyc", "ab"]])
        lines = [json.dumps([*pair, changes(*pair)]) for pair in pairs]
        CASES.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    cases = json.loads(CASES.read_text("utf-8"))
    assert len(cases) > 100
    for before, after, listed in cases:
        assert changes(before, after) == listed
