"""Rules for every script and style sheet of a component."""

import re
from pathlib import Path

import viz

FOLDER = Path(viz.__file__).parent / "browser"
FETCHES = {"engine/load.ts", "live/service_worker.ts"}  # the files of their own site


def test_no_module_can_read_text_as_html_or_reach_the_network():
    paths = list(FOLDER.rglob("*.ts"))
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|Function\(",
            text,
        )
        # the names of two languages, which nobody opens
        for name in ("2000/svg", "1998/Math/MathML"):
            text = text.replace(f"http://www.w3.org/{name}", "")
        reaches = {*re.findall(r"https?:|fetch\(|import\(|XMLHttpRequest|WebSocket", text)}
        assert reaches <= ({"fetch("} if path.relative_to(FOLDER).as_posix() in FETCHES else set())


def test_every_rule_of_the_style_sheet_keeps_to_our_own_classes():
    for path in FOLDER.rglob("*.css"):
        css = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for selectors in re.findall(r"([^{}]+)\{", css):
            if not selectors.strip().startswith("@media"):
                assert all(part.strip().startswith(".hl") for part in selectors.split(","))
