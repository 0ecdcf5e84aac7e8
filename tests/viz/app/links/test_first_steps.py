"""The first steps lead from stop to stop, through links of a page too, and end with a way back."""

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from viz.app.links.first_steps import STOPS


def _stop(path: str) -> None:
    from viz.app.links import address, first_steps, navigation

    address.prepare(path)
    first_steps.show(path)
    navigation.link(path, "Worth seeing", {})


@pytest.mark.parametrize("number", range(2, len(STOPS) + 1))
def test_a_stop_leads_on_and_back_and_a_link_of_its_page_keeps_it(number: int) -> None:
    app = AppTest.from_function(_stop, args=(STOPS[number - 1].page,))
    app.query_params["stop"] = str(number)
    app.run()
    assert not app.exception
    links = [link.proto for link in app.get("page_link")]
    stops = [parse_qs(link.query_string).get("stop", [""]) for link in links]
    onward = [str(number + 1)] if number < len(STOPS) else [""]
    assert stops == [[str(number - 1)], onward, [str(number)]]
    pages = {STOPS[number - 2].page, STOPS[number % len(STOPS)].page}
    assert {link.page or "translate" for link in links[:2]} == pages


def _first_stop() -> None:
    from viz.app.links import address, first_steps

    address.prepare("translate")
    first_steps.show("translate", {"layer": "5", "head": "7"})


@pytest.mark.parametrize("number", [1, 2])
def test_the_head_that_is_watched_is_opened_from_the_start_of_its_walk(number: int) -> None:
    app = AppTest.from_function(_first_stop)
    if number == 2:
        app.query_params["stop"] = "2"
    app.run()
    assert [text.value.split(":")[0] for text in app.text] == [f"{number} of {len(STOPS)}"]
    query = parse_qs(app.get("page_link")[-1].proto.query_string)
    carried = {"layer": ["5"], "head": ["7"], "at": ["1"]} if number == 2 else {}
    assert {name: query[name] for name in ("layer", "head", "at") if name in query} == carried


def test_the_way_back_watches_the_head_that_is_open() -> None:
    app = AppTest.from_function(_stop, args=("inside",))
    app.query_params |= {"stop": "3", "kind": "encoder", "layer": "4", "head": "6"}
    app.run()
    back, onward = (parse_qs(link.proto.query_string) for link in app.get("page_link")[:2])
    assert back["watched"] == ["encoder_self-4-6"]
    assert "watched" not in onward
