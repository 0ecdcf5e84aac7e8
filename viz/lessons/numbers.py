"""Numbers as people write them, in English and German; `viz/browser/core/numbers.ts` reads alike.

`tests/viz/lessons/numbers.json` has examples, which both must read.
"""

import re
from unicodedata import normalize

_NUMBER = re.compile(
    r"[≈=~]? *([-−–+]?) *([0-9.,'’ ]*[0-9][.,]?)(?:(?:e| *[·×x*] *10\^)([-−–+]?[0-9]+))?"
    r" *(%|per ?cent|prozent)?",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"[≈=~]? *([-−–+]?) *(?:([0-9]+) +)?([0-9]+) *[/⁄] *([0-9]*[1-9][0-9]*)")
_PLAIN = re.compile(r"[0-9]+[.,]?|[0-9]*[.,][0-9]+")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}([.,'’ ])[0-9]{3}(?:\1[0-9]{3})*(?:(?!\1)[.,][0-9]+)?")
_VULGAR = re.compile(r"(?<=[0-9]) *([¼-¾⅐-⅞])")  # 1½ is 1 1/2, not 11/2


def read_numbers(text: str) -> tuple[float, ...]:
    """Return the numbers that a text can mean: `8,000` is 8000 or 8; a word is not a number."""
    text = normalize("NFKC", _VULGAR.sub(r" \1", text)).strip(" ")
    if match := _FRACTION.fullmatch(text):
        sign, whole, above, below = match.groups()
        return (_signed(sign, float(whole or 0) + float(above) / float(below)),)
    if (match := _NUMBER.fullmatch(text)) is None:
        return ()
    sign, digits, power, share = match.groups()
    readings = []
    if grouped := _GROUPED.fullmatch(digits):
        readings.append(digits.replace(grouped[1], ""))
    if _PLAIN.fullmatch(digits):
        readings.append(digits)
    scale = f"e{_minus(power)}" if power else ""
    numbers = (float(reading.replace(",", ".") + scale) for reading in readings)
    return tuple(_signed(sign, number / (100 if share else 1)) for number in numbers)


def _minus(text: str) -> str:
    return text.replace("−", "-").replace("–", "-")


def _signed(sign: str, number: float) -> float:
    return -number if sign and sign != "+" else number
