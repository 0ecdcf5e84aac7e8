"""The cells of a table on a page, each as a sentence of its own."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser


def cells(html: str) -> Iterator[str]:
    """`L3 at 2 schwarze: schwarze 0.93`: row, number and name of the column, and the text.

    What a hover says of a cell follows it.
    """
    reader = _Reader()
    reader.feed(html)
    names: list[str] = []
    for row in reader.rows:
        texts = [" ".join("".join(cell.text).split()) for cell in row]
        if all(cell.heads for cell in row):
            names = texts
            continue
        for column in range(1, len(row)):
            named = f" {names[column]}" if column < len(names) else ""
            where = f"{texts[0]} at {column}{named}"
            yield f"{where}: {texts[column]}"
            if hover := row[column].hover:
                yield f"{where} hover: {', '.join(hover.splitlines())}"


class _Cell:
    def __init__(self, heads: bool, hover: str) -> None:
        self.heads, self.hover = heads, hover
        self.text: list[str] = []


class _Reader(HTMLParser):
    """Collects the rows of all tables."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[_Cell]] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append(_Cell(tag == "th", dict(attrs).get("title") or ""))
            self._open = True
        elif tag == "br" and self._open:
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.rows[-1][-1].text.append(data)
