import re

import pytest

from viz.draw.bundle import FOLDER, script, style

MODULES = ["attention_map.js", "head_grid.js", "head_view.js"]


@pytest.mark.parametrize("name", MODULES)
def test_a_bundle_stands_alone_and_lends_out_only_its_own_names(name):
    text = script(name)
    assert not re.search(r"^import\b", text, re.MULTILINE)
    assert re.findall(r"^export (.*?)\(", text, re.MULTILINE) == [
        "function render",
        "default function streamlit",
    ]


@pytest.mark.parametrize("name", MODULES)
def test_each_module_of_a_bundle_is_there_once_in_a_scope_of_its_own(name):
    top = re.findall(r"^const (module_\w+) = ", script(name), re.MULTILINE)
    assert top[0] == "module_shared"  # what others need comes first
    assert len(top) == len(set(top)) > 3
    for used in re.findall(r"\} = (module_\w+);", script(name)):
        assert used in top


def test_no_module_can_read_text_as_html_or_reach_the_network():
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|Function\(",
            text,
        )
        # the names of two languages, which nobody opens
        for name in ("2000/svg", "1998/Math/MathML"):
            text = text.replace(f"http://www.w3.org/{name}", "")
        assert not re.search(r"https?:|fetch\(|import\(|XMLHttpRequest|WebSocket", text)


def test_every_rule_of_the_style_sheet_keeps_to_our_own_classes():
    css = re.sub(r"/\*.*?\*/", "", style(), flags=re.DOTALL)
    for selectors in re.findall(r"([^{}]+)\{", css):
        assert all(one.strip().startswith(".hl") for one in selectors.split(","))
