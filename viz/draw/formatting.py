"""Numbers and lists in the screen's format."""

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

SEEN = 0.005  # the least number that two decimals show


def format_number(number: float, digits: int = 2, *, sign: bool = False) -> str:
    """Format a number with a true minus sign; `sign` shows the plus, too. A rounded 0 has none."""
    rounded = round(number, digits) + 0.0  # -0.0 + 0.0 is 0.0
    text = f"{rounded:+.{digits}f}" if sign and rounded else f"{rounded:.{digits}f}"
    return text.replace("-", "−")


def format_bound(number: float, digits: int = 2, *, lower: bool = False) -> str:
    """Format a bound so that it holds: one from above is rounded up, a `lower` one down."""
    exact = Decimal(f"{number:.6g}")  # of 0.3, float32 and float64 hold a little more or less
    turn = ROUND_FLOOR if lower else ROUND_CEILING
    return format_number(float(exact.quantize(Decimal(1).scaleb(-digits), turn)), digits)


def format_difference(after: float, before: float, digits: int = 2) -> str:
    """Format a difference that stands beside its two numbers: that of the numbers as shown."""
    return format_number(round(after, digits) - round(before, digits), digits, sign=True)


def format_probability(value: float) -> str:
    """Format a probability with two decimals, a small one above 0 as `< 0.01`."""
    return "< 0.01" if 0 < value < 0.005 else f"{value:.2f}"


def format_p(p: float) -> str:
    """Format the p of a test with three decimals, as `p = 0.026` or `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def per_cent(share: float) -> str:
    """Format a share as `93 %`, with a non-breaking space; a small one as `below 1 %`."""
    return "below 1\u00a0%" if 0 < share <= 0.005 else f"{format_number(100 * share, 0)}\u00a0%"


def counted(number: int, thing: str) -> str:
    """Format a number of things: “1 head”, “3 heads”, “1,014 sentences”."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def listing(names: Sequence[str]) -> str:
    """Join names as “a, b and c”; "" if there are none."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def millions(count: int) -> str:
    """Format a count such as 63.05 M; small counts are written out."""
    return f"{count / 1e6:,.2f} M" if count >= 1e5 else f"{count:,}"
