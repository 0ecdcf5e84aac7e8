// Message of `encode_grid` in viz/draw/head_grid.py, and what there is to say of it in words.

import { quote } from "../core/text.js";

/**
 * Kind, layer and head, the last two from 0.
 * @typedef {[kind: string, layer: number, head: number]} Head
 */

/**
 * @typedef {object} Part every head of one kind
 * @property {string} kind
 * @property {string} name on the screen
 * @property {boolean} causal whether a query sees no later key
 * @property {string} color
 * @property {number} layers
 * @property {number} heads the most that a layer has
 * @property {number[]} counts heads of each layer
 * @property {boolean} [together] a map is of all heads of a layer, so there is one for each
 * @property {string} [amount] what a square of a map holds, where it is no weight
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {[rows: number, columns: number]} block tokens that share a cell
 * @property {number} rows cells down
 * @property {number} columns cells across
 * @property {number | null} last row of cells that the decoder has reached; null for all
 * @property {string[][]} roles `[layer][head]`
 * @property {string[][]} values `[layer][head]`
 * @property {[query: number, key: number, weight: number][][]} strongest `[layer][head]`
 * @property {import("../core/raster.js").Palette} palette
 * @property {Uint8Array} weights `[layer, head, row, column]`, 255 for 1
 */

/**
 * @typedef {object} GridData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} key under which Python says which head is selected
 * @property {Head | null} selected -1 stands for a mean
 * @property {Head[] | null} order
 * @property {Head[]} [crossed] switched off
 * @property {boolean} [switches] a click switches a head off and on, and does not open it
 * @property {number | null} step
 * @property {Part[]} parts
 */

/**
 * @typedef {object} Cell one head with all that is written at its map
 * @property {Part} part
 * @property {number} layer
 * @property {number} head
 * @property {string} id
 * @property {string} name
 * @property {string} role
 * @property {string} value
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {GridData}
 */
export function read({ meta, arrays }) {
  /** @param {Part} part */
  const whole = (part) => ({
    ...part,
    palette: { light: arrays[`${part.kind}.light`], dark: arrays[`${part.kind}.dark`] },
    weights: arrays[`${part.kind}.weights`],
  });
  return { ...meta, parts: meta.parts.map(whole) };
}

/**
 * @param {Part} part
 * @param {number} layer
 * @param {number} head
 * @returns {Cell}
 */
export function cellOf(part, layer, head) {
  return {
    part, layer, head,
    id: ident([part.kind, layer, head]),
    name: part.together ? `L${layer + 1}` : `L${layer + 1} H${head + 1}`,
    role: part.roles[layer][head],
    value: part.values[layer][head],
  };
}

/** @param {Head | null} head */
export const ident = (head) => (head ?? []).join(" ");

/** List the numbers from 0. @param {number} count */
export const range = (count) => Array.from({ length: count }, (_, n) => n);

/**
 * Get the weights of a head, `[row, column]` of cells.
 * @param {Pick<Cell, "part" | "layer" | "head">} cell
 */
export function weightsOf({ part, layer, head }) {
  const count = part.rows * part.columns;
  const number = layer * part.heads + head;
  return part.weights.subarray(number * count, (number + 1) * count);
}

/** Name a head in its note: `L3 H5 · cross · aligns`. @param {Cell} cell */
export const titleOf = ({ name, part, role }) =>
  [name, part.name, role].filter(Boolean).join(" · ");

/** Name a head for a screen reader. @param {Cell} cell */
export const labelOf = ({ part, layer, head }) =>
  `${part.name}, layer ${layer + 1}, ${part.together ? "all heads" : `head ${head + 1}`}`;

/**
 * Name the grid for a screen reader.
 * @param {Part[]} parts
 * @param {number} maps
 * @param {string[]} groups in which they stand
 */
export function gridLabel(parts, maps, groups) {
  const count = parts.every(({ together }) => together)
    ? `${maps} maps, one for each layer` : `${maps} attention heads`;
  return `${count}: ${groups.join(", ")}`;
}

/**
 * Name the heads that were switched off, or on again; "" where none was.
 * @param {ReadonlySet<string>} before their `ident`s
 * @param {ReadonlySet<string>} now
 * @param {(id: string) => string} nameOf
 */
export function switched(before, now, nameOf) {
  /** @param {string[]} ids @param {string} how */
  const say = (ids, how) => (ids.length === 1 ? [`${nameOf(ids[0])} is ${how}`]
    : ids.length ? [`${ids.length} heads are ${how}`] : []);
  return [
    ...say([...now].filter((id) => !before.has(id)), "switched off"),
    ...say([...before].filter((id) => !now.has(id)), "on again"),
  ].join("; ");
}

/** Describe a small map. @param {Cell} cell */
export function describe({ part, layer, head, role, value }) {
  const [query, key, weight] = part.strongest[layer][head];
  const words = `${quote(part.queries[query])} to ${quote(part.keys[key])}`;
  const { amount = "weight" } = part;
  const how = amount === "weight" ? "looks most" : `largest ${amount}`;
  const most = `${how} from ${words}, ${weight.toFixed(2)}`;
  return [role, value, most].filter(Boolean).join("; ");
}

/**
 * Note in sentences how the maps simplify the weights.
 * @param {GridData} data
 * @param {boolean} folded whether some cells share a pixel
 */
export function notesOn({ parts, step }, folded) {
  const [{ amount = "weight" }] = parts;
  const notes = [];
  const decoding = parts.find((part) => part.last != null);
  if (decoding && step != null) {
    const count = decoding.queries.length;
    notes.push(`Step ${step + 1} of ${count}: rows after it do not exist yet.`);
  }
  const joined = parts.filter(({ block }) => block[0] * block[1] > 1);
  const sizes = new Set(joined.map(({ block }) => block.join(" × ")));
  if (joined.length) {
    const blocks = sizes.size === 1 && joined.length === parts.length ? [...sizes]
      : joined.map(({ block, name }) => `${block.join(" × ")} (${name})`);
    notes.push(`Small maps show blocks of ${blocks.join(", ")} tokens by their largest ${amount}.`);
  }
  if (folded) {
    notes.push(`More cells than pixels: each pixel shows the largest ${amount} that falls on it.`);
  }
  return notes;
}
