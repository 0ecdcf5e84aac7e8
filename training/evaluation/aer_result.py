"""Result of alignment by every map: the best map, a table, JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from training.evaluation.gold_links import Counts, Figures
from transformer.analysis import lenses
from transformer.analysis.alignment_settings import AlignmentSettings, GoldFigures, Links, Row
from transformer.analysis.lenses import LensName


class Map(NamedTuple):
    """A map of cross-attention, named as `AlignmentSettings` do; without a head, a whole layer."""

    layer: int
    head: int | None
    row: Row
    lens: LensName


Maps: TypeAlias = Mapping[Map, Mapping[Links, Counts]]
"""What was counted with each map and rule."""


@dataclass(frozen=True)
class Result:
    """All figures of one gold set.

    Args:
        maps: what was counted.
        baselines: figures by name.
        default: the settings of the checkpoint.
        sentences: how many pairs were aligned.
        dropped: how many gold links were left out.
    """

    maps: Maps
    baselines: dict[str, Figures]
    default: AlignmentSettings
    sentences: int
    dropped: int

    def best(self, name: str) -> AlignmentSettings:
        """Return the settings with the least AER, measured on a gold set of this name."""
        rates = {
            (map_, rule): counts.figures()["aer"]
            for map_, rules in self.maps.items()
            for rule, counts in rules.items()
        }
        map_, rule = min(rates, key=rates.__getitem__)
        gold = GoldFigures(name, self.sentences, round(rates[map_, rule], 2))
        return AlignmentSettings(*map_, rule, gold)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it: a row's own figures link each target word."""
        return {
            "rows": [
                map_._asdict() | rules["each"].figures() | {"mutual": rules["mutual"].figures()}
                for map_, rules in self.maps.items()
            ],
            "baselines": self.baselines,
            "default": self._default_figures(),
            "sentences": self.sentences,
            "dropped": self.dropped,
        }

    def _default_figures(self) -> dict[str, Any]:
        chosen = self.default
        map_ = Map(chosen.layer, chosen.head, chosen.row, chosen.lens)
        figures = self.maps[map_][chosen.links].figures()
        return map_._asdict() | {"links": chosen.links} | figures

    def as_text(self) -> str:
        """Return a table of AER with notes; layers and heads count from 1."""
        best = self.best("this set")
        default = self._default_figures()
        return "\n".join(
            [
                f"AER in percent, {self.sentences:,} sentences: each target word with its "
                f"strongest source word / these pairs where that holds both ways",
                f"{'layer':5} {'head':4} {'row':6}" + "".join(f"{n:>14}" for n in lenses.NAMES),
                *self._lines(),
                "",
                *(_in_words(name, figures) for name, figures in self.baselines.items()),
                _in_words("default", default) + f"  {self.default.in_words()}",
                f"best: {best.in_words()}",
            ]
        )

    def _lines(self) -> list[str]:
        # whole layers after the heads of all layers
        order = sorted(
            {map_[:3] for map_ in self.maps},
            key=lambda key: (key[1] is None, key[0], key[1] or 0, key[2]),
        )
        return [
            f"{layer + 1:5} {'all' if head is None else head + 1:>4} {row:6}"
            + "".join(f"{self._cell(Map(layer, head, row, name)):>14}" for name in lenses.NAMES)
            for layer, head, row in order
        ]

    def _cell(self, map_: Map) -> str:
        if map_ not in self.maps:
            return "–"
        rules = self.maps[map_]
        return " / ".join(f"{rules[rule].figures()['aer']:.1f}" for rule in ("each", "mutual"))


def _in_words(name: str, figures: Mapping[str, Any]) -> str:
    return (
        f"{name:10}  AER {figures['aer']:5.1f}  precision {figures['precision']:5.1f}  "
        f"recall {figures['recall']:5.1f}"
    )
