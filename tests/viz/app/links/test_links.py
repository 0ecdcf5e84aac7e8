"""Fifty links open on the view and the choices that they always have, forged values on the usual.

Each line of `links.jsonl` has a page, the parameters of a link, and what the fields of these names
show. Links are kept: change a line only where one is to end.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.viz.app_test import open_app
from viz.app.links.address import SHARED

LINKS = Path(__file__).with_name("links.jsonl").read_text("utf-8").splitlines()
FIELDS = (
    *("button_group", "selectbox", "multiselect"),
    *("number_input", "slider", "checkbox", "toggle", "text_input"),
)


def test_every_page_of_heads_shares_the_open_one() -> None:
    for page, _, expected in map(json.loads, LINKS):
        if page != "masks":  # whose kind is that of a mask
            assert {"kind", "layer", "head"} & expected.keys() <= SHARED.get(page, {}).keys()


@pytest.mark.slow
@pytest.mark.parametrize("line", LINKS, ids=range(len(LINKS)))
def test_a_link_opens_on_its_view_with_its_choices(line: str) -> None:
    page, url, expected = json.loads(line)
    app = open_app(page, **{"text": "A dog runs.", **url})
    shown: dict[str, Any] = {
        field.key: field.value for kind in FIELDS for field in getattr(app, kind) if field.key
    }
    assert {name: shown.get(name) for name in expected} == expected
