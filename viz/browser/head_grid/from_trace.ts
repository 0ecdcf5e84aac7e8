// What the grid of all heads shows of a trace: its small maps, of which a long sentence shares the
// cells, and the largest weight of each head.

import { axesOf, captionOf } from "../core/labels.ts";
import type { About, HeadPlace, KindTrace, Trace } from "../core/trace.ts";
import { type GridData, type Part, range, wordedPart } from "./plan.ts";

const LARGEST = 128; // cells along a side of a small map; no screen gives it more pixels

export const gridData = (
  trace: Trace, about: About, selected: HeadPlace | null,
): GridData & { caption: string[] } => ({
  key: "", selected, order: null, crossed: trace.edited.removed, switches: false, answered: 0,
  nameEnd: "",
  // the kind of the open head comes first, beside its map
  parts: [...trace.kinds].sort((a, b) =>
    Number(a.kind !== selected?.[0]) - Number(b.kind !== selected?.[0]))
    .map((kind) => gridPart(trace, kind, about)),
  caption: captionOf(trace, about, "every head, lens: weights."),
});

/** Make the block of one kind. */
export function gridPart(
  trace: Trace, { kind, layers, heads, causal, weights }: KindTrace, { roles }: About,
): Part {
  const [queries, keys] = axesOf(trace, kind);
  const block = [queries, keys].map(({ length }) => Math.ceil(length / LARGEST));
  const [rows, columns] = [queries, keys].map(({ length }, n) => Math.ceil(length / block[n]));
  const levels = new Uint8Array(layers * heads * rows * columns);
  const strongest = range(layers).map((layer) => range(heads).map((head) => {
    const map = layer * heads + head;
    const from = map * queries.length * keys.length;
    let [best, at] = [0, from];
    for (let query = 0; query < queries.length; query++) {
      const row = (map * rows + Math.floor(query / block[0])) * columns;
      for (let key = 0; key < keys.length; key++, at++) {
        if (weights[at] > weights[from + best]) best = at - from;
        const cell = row + Math.floor(key / block[1]);
        levels[cell] = Math.max(levels[cell], Math.round(255 * weights[at]));
      }
    }
    return [Math.floor(best / keys.length), best % keys.length, weights[from + best]] as
      [query: number, key: number, weight: number];
  }));
  const blank = range(layers).map(() => Array<string>(heads).fill(""));
  return wordedPart({
    kind, causal, layers, heads, counts: Array(layers).fill(heads), queries, keys, rows, columns,
    block: [block[0], block[1]], roles: roles[kind] ?? blank, values: null,
    strongest, weights: levels, together: false, amount: "weight",
  });
}
