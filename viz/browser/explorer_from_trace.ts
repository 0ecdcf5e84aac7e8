// What the explorer shows of a trace: all heads small, and labels and colours of the open map and
// of its ribbons, for each kind.

import {
  axesOf, axisTitles, captionOf, decoderRows, displayTokens, headName, KIND_TITLES, languagesOf,
  readsOf, SCREEN_NAMES,
} from "./core/labels.ts";
import { headColors, paletteOf } from "./core/palette.ts";
import { type ExplorerData, HeadWeights } from "./explorer.ts";
import { gridData } from "./head_grid/from_trace.ts";
import type { MapData } from "./attention_map/plan.ts";
import type { About, HeadPlace, KindTrace, Trace } from "./core/trace.ts";
import type { RibbonData } from "./ribbons.ts";

const FAINTEST = 0.01; // a thinner ribbon could not be seen, and there are thousands of them
const MOST_HEADS = 8; // that lie over each other

export function explorerData(trace: Trace, about: About, selected: HeadPlace): ExplorerData {
  const kinds = Object.fromEntries(trace.kinds.map((part) =>
    [part.kind, { ...mapsOf(trace, part, about), heads: part.heads, weights: part.weights }]));
  const [, layer, head] = selected;
  return {
    selected, name: headName(layer, head), mean: null, together: null, over: [], pairs: [],
    mostHeads: MOST_HEADS, compared: [], grid: gridData(trace, about, selected), kinds,
    weights: new HeadWeights(kinds, { dtype: "float32", unit: 1 }),
    ...trace.edited.rows.length && { painted: trace.edited.rows },
  };
}

/** Make a map and ribbons of a kind without weights: the explorer takes those of the open heads. */
function mapsOf(trace: Trace, { kind, causal }: KindTrace, about: About) {
  const languages = languagesOf(about);
  const [queries, keys] = axesOf(trace, kind).map(displayTokens);
  const [reads, writes] = [readsOf(trace), trace.target.pieces];
  const decodes = kind !== "encoder_self";
  const axes = {
    kind, ...axisTitles(kind, languages), queries, keys, title: SCREEN_NAMES[kind],
    amount: "weight", weights: new Float32Array(0),
    rowNames: decodes ? decoderRows(reads, writes) : null,
    caption: captionOf(trace, about, `${KIND_TITLES[kind]}, lens: weights.`),
  };
  const map: MapData & { caption: string[] } = {
    ...axes, room: null, causal: kind === "decoder_self" && causal, scale: "linear", threshold: 0,
    note: "The weights of each row sum to 1.", signed: false, tallBars: false, paints: false,
    pinned: null, unused: false, palette: paletteOf(kind),
    both: !decodes ? null : {
      titles: [axisTitles(kind, languages, "reads").rows,
        axisTitles(kind, languages, "writes").rows],
      reads: displayTokens(reads), writes: displayTokens(writes),
    },
  };
  const ribbons: RibbonData & { caption: string[] } = {
    ...axes, note: `Weights under ${FAINTEST} are not drawn.`, from: FAINTEST, heads: [""],
    colors: { light: headColors(kind, "light"), dark: headColors(kind, "dark") },
  };
  return { map, ribbons };
}
