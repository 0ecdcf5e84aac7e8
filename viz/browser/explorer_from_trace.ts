// What the explorer shows of a trace: all heads small, and labels and colours of the open map and
// of its ribbons, for each kind.

import { type Look, PLAIN } from "./attention_map/plan.ts";
import { captionOf, headName, KIND_TITLES, mapAxes, SCREEN_NAMES } from "./core/labels.ts";
import { type ExplorerData, readKind } from "./explorer.ts";
import { gridData } from "./head_grid/from_trace.ts";
import { HeadWeights } from "./head_weights.ts";
import type { About, HeadPlace, Trace } from "./core/trace.ts";

/** @param look how the maps are drawn */
export function explorerData(
  trace: Trace, about: About, selected: HeadPlace, look: Partial<Look> = {},
): ExplorerData {
  const kinds = Object.fromEntries(trace.kinds.map((part) => {
    const { kind, heads, weights } = part;
    return [kind, readKind({
      axes: mapAxes(trace, part, about), ribbonAxes: null, heads, weights,
      title: SCREEN_NAMES[kind],
      note: "The weights of each row sum to 1.",
      caption: captionOf(trace, about, `${KIND_TITLES[kind]}, lens: weights.`),
    }, { ...PLAIN, ...look })];
  }));
  const [, layer, head] = selected;
  return {
    selected, name: headName(layer, head), mean: null, together: null, over: [], pairs: [],
    compared: [], grid: gridData(trace, about, selected), kinds,
    weights: new HeadWeights(kinds, { dtype: "float32", unit: 1 }),
    ...trace.edited.rows.length && { painted: trace.edited.rows },
  };
}
