"""Sentence pairs of a table: CSV, and TSV as it stands or with the quotes of a spreadsheet."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from training.data import corpus
from transformer.text.languages import name_of

Pair = tuple[str, str]

_LABELS = {
    "text", "sentence", "segment", "word", "phrase", "line", "lang", "language", "score", "input",
    "source", "target", "src", "tgt", "trg", "ref", "reference", "translation", "original",
}  # fmt: skip
"""Words in the names of columns, in the singular, beside languages."""
_CELL = r'(?:"[^"]*+(?:""[^"]*+)*+"|[^"\t]*+)'
_QUOTED_ROW = re.compile(rf"{_CELL}(?:\t{_CELL})*+")


def table_pairs(path: Path, codes: Pair, at_most: int, *, is_csv: bool) -> Iterator[Pair]:
    """Yield the pairs of a table: of two columns, or of those that its first line names.

    A first line may name the languages by their `codes` or in words; `is_csv` says whether `,` or
    `;` may part the columns, and not a tab alone.
    """

    def lines() -> Iterator[str]:
        return (line for chunk in corpus.line_chunks(path, at_most) for line in chunk)

    csv.field_size_limit(corpus.MAX_LINE_CHARACTERS)
    first = re.sub('"[^"]*"', "", next(lines(), "")) if is_csv else ""
    rows = csv.reader(
        (f"{line}\n" for line in lines()),
        delimiter=max("\t,;", key=first.count),
        quoting=csv.QUOTE_MINIMAL if is_csv or _is_quoted(lines()) else csv.QUOTE_NONE,
        strict=True,
    )
    width, columns, row, end = 2, (0, 1), 0, 0
    try:
        for row, cells in enumerate(rows, start=1):
            begin, end = end + 1, rows.line_num  # lines of the row
            if row == 1 and (named := _named_columns(path, cells, codes)):
                width, columns = len(cells), named
                continue
            if not "".join(cells).strip():
                cells = [""] * width
            if len(cells) != width:
                raise corpus.CorpusError(
                    f"{path} line {begin:,} has {len(cells):,} column(s) and not "
                    f"{width:,}: part the two sides by one {'comma' if is_csv else 'tab'}, or name "
                    f"all columns in the first line, those of the text {codes[0]} and {codes[1]}."
                )
            yield cells[columns[0]].replace("\n", " "), cells[columns[1]].replace("\n", " ")
    except csv.Error as error:
        is_at_end, last = str(error) == "unexpected end of data", rows.line_num
        before = enumerate(islice(lines(), end, last - (not is_at_end)), start=end + 1)
        # a cell that is still open may have opened in any line with a quote beside doubled ones
        opens = max((n for n, line in before if '"' in line.replace('""', "")), default=last)
        quote = "has a stray quote" if opens == last else f"opens a quote that line {last:,} is in"
        raise corpus.CorpusError(
            f"{path} line {opens:,} {quote}: close it, or double it in its cell."
        ) from error
    if not row:
        raise corpus.CorpusError(f"{path} is empty: give at least one pair.")


def _is_quoted(lines: Iterable[str]) -> bool:
    """Return whether each quote of a TSV is a spreadsheet's, around a cell or doubled in one."""
    parts, quotes, length = list[str](), 0, 0
    is_needed, is_everywhere = False, True
    for line in lines:
        if not parts and '"' not in line:
            is_everywhere &= not line.strip()
            continue
        parts.append(line)
        quotes, length = quotes + line.count('"'), length + len(line) + 1
        if quotes % 2 and length <= corpus.MAX_LINE_CHARACTERS // 10:
            continue  # a line feed in a cell
        row = "\n".join(parts)
        if not _QUOTED_ROW.fullmatch(row):
            return False
        cells = next(csv.reader([row], delimiter="\t"))
        if any({*cell} >= {"\t", "\n"} for cell in cells):
            return False  # two pairs, a quotation from one to the other
        is_needed |= any(not {*'"\t\n'}.isdisjoint(cell) for cell in cells)
        is_everywhere &= quotes == sum(2 + 2 * cell.count('"') for cell in cells)
        parts, quotes, length = [], 0, 0
    return not parts and (is_needed or is_everywhere)


def _named_columns(path: Path, cells: list[str], codes: Pair) -> tuple[int, int] | None:
    """Return the columns of the two languages, None if these are a pair; refuse other names."""
    names = [cell.strip(' "') for cell in cells]
    languages = [_languages(name) for name in names]
    sides = [[_side_of(tag, codes) for tag in tags or ()] for tags in languages]
    matches = []
    for side, code in enumerate(codes):
        likely = [column for column, tags in enumerate(sides) if tags == [side]]
        matches.append([column for column, name in enumerate(names) if name == code] or likely)
    if len(matches[0]) == len(matches[1]) == 1:
        return matches[0][0], matches[1][0]
    words = [name for name in names if len(name) > 3 and name.isalpha()]  # no code
    if any(names) and (None not in languages or any(map(name_of, words))):
        raise corpus.CorpusError(
            f"{path} line 1 looks like names of columns, but has not one each of {codes[0]} and "
            f"{codes[1]}: name the columns so, in it or in a line before it, or choose others with "
            f"--source and --target."
        )
    return None


def _languages(name: str) -> list[str] | None:
    """Return the languages in the name of a column; None for any other text."""
    if name_of(name):
        return [name]
    words = re.findall(r"[^\W\d_]+", name)
    others = {word.casefold().removesuffix("s") for word in words if not name_of(word)}
    return [*filter(name_of, words)] if others <= _LABELS and (words or not name) else None


def _side_of(language: str, codes: Iterable[str]) -> int | None:
    """Return which of two codes a language is, given by its code or a name; None if neither."""
    tags = [code.lower().replace("_", "-") for code in (language, *codes)]
    tag, *others = tags
    if tag in others:
        return others.index(tag)
    for side, other in enumerate(others):
        names = [name_of(code) or code.partition("-")[0] for code in (tag, other)]
        if names[0] == names[1] and ("-" not in tag or "-" not in other):
            return side
    return None
