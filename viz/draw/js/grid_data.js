// What grid.py wrote, as the grid's other modules take it, and what there is to say of it in words.

import { quote } from "./shared.js";

const SHADES = 256;

/**
 * @param {Uint8Array} bytes
 * @returns {object} the header's fields; each of `parts` with its `palette` {light, dark} and its
 *   `weights`, one byte each
 */
export function unpackGrid(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = 4 + length;
  const next = (count) => bytes.subarray(at, (at += count));
  const parts = header.parts.map((part) => ({
    ...part,
    palette: { light: next(3 * SHADES), dark: next(3 * SHADES) },
    weights: next(part.layers * part.heads * part.rows * part.columns),
  }));
  return { ...header, parts };
}

/** One head of a part with all that is written at its map. */
export function headOf(part, layer, head) {
  return {
    part, layer, head,
    id: ident([part.kind, layer, head]),
    name: `L${layer + 1} H${head + 1}`,
    badge: part.badges[layer][head],
    value: part.values[layer][head],
  };
}

export const ident = (selected) => (selected ?? []).join(" ");

export const many = (count) => Array.from({ length: count }, (_, n) => n);

/** Its weights, `[row, column]` of blocks. */
export function weightsOf({ part, layer, head }) {
  const count = part.rows * part.columns;
  const number = layer * part.heads + head;
  return part.weights.subarray(number * count, (number + 1) * count);
}

/** As the tip names it: `L3 H5 · cross · aligns`. */
export const titleOf = ({ name, part, badge }) =>
  [name, part.name, badge].filter(Boolean).join(" · ");

/** As a screen reader names it. */
export const labelOf = ({ part, layer, head }) =>
  `${part.name}, layer ${layer + 1}, head ${head + 1}`;

/** A small map in words. */
export function describe({ part, layer, head, badge, value }) {
  const [query, key, weight] = part.strongest[layer][head];
  const words = `${quote(part.queries[query])} to ${quote(part.keys[key])}`;
  const most = `looks most from ${words}, ${weight.toFixed(2)}`;
  return [badge, value, most].filter(Boolean).join("; ");
}

/** What the maps do not show as it is, in sentences. */
export function notesOn({ parts, step }, folded) {
  const notes = [];
  const decoding = parts.find((part) => part.last != null);
  if (decoding) {
    const count = decoding.queries.length;
    notes.push(`Step ${step + 1} of ${count}: rows after it do not exist yet.`);
  }
  const joined = parts.filter(({ block }) => block[0] * block[1] > 1);
  const sizes = new Set(joined.map(({ block }) => block.join(" × ")));
  if (joined.length) {
    const each = sizes.size === 1 && joined.length === parts.length ? [...sizes]
      : joined.map(({ block, name }) => `${block.join(" × ")} (${name})`);
    notes.push(`Small maps show blocks of ${each.join(", ")} tokens by their largest weight.`);
  }
  if (folded) {
    notes.push("More cells than pixels: each pixel shows the largest weight that falls on it.");
  }
  return notes;
}
