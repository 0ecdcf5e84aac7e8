// Messages of other components in one, the weights of the heads that are at hand or in the page,
// and the four parts of a map over a pair of texts, as an encoder such as BERT reads two: which
// text looks, and into which.

import { TYPES, unzip } from "../core/wire.ts";

/** @import { MapData } from "../attention_map/plan.ts" */

/** A map: kind, layer and head from 0; null stands for the mean over layers or heads.
 * @typedef {[kind: string, layer: number | null, head: number | null]} Opened */

/** A map and ribbons with all labels; their weights are 0.
 * @typedef {{map: MapData, ribbons: import("../ribbons.ts").RibbonData}} KindData */

/**
 * @typedef {object} ExplorerData the message of `encode_explorer` in viz/draw/explorer.py
 * @property {Opened} selected which is open first
 * @property {string} title of that map
 * @property {Float32Array | null} mean its weights, where it is a mean and no head
 * @property {string | null} together what stands in the place of a head, where a map is of a layer
 * @property {[layer: number, head: number][]} over whose ribbons lie over its own
 * @property {number} mostHeads that lie over each other: there are as many colours
 * @property {MapData[]} compared a second map, the difference
 * @property {import("../head_grid/plan.ts").GridData} grid
 * @property {PairPart[]} pairs the parts of a pair of texts; none of one text
 * @property {Record<string, KindData>} kinds
 * @property {HeadWeights} weights
 */

const LARGEST_CACHE = 24; // heads that stay unpacked; of 512 tokens each is a megabyte

/** The text of a head by its name, such as `cross.2.5`.
 * @typedef {(name: string) => Promise<string>} TextOf */

/** Get the head that a name such as `cross.2.5` stands for. @param {string} name */
export function headOf(name) {
  const [kind, ...numbers] = name.split(".");
  const [layer, head] = numbers.map(Number);
  return /** @type {import("../head_grid/plan.ts").Head} */ ([kind, layer, head]);
}

/** The encoding of a text, as `Packing` in viz/draw/packed_heads.py.
 * @typedef {{dtype: keyof typeof TYPES, unit: number}} Packing */

/**
 * @typedef {object} Inside
 * @property {Record<string, Float32Array>} whole `[layer, head, query, key]` of the kinds that came
 * @property {Record<string, number>} heads of a layer in `whole`
 * @property {Record<string, number>} sizes weights of one head
 */

export class HeadWeights {
  /** @param {Inside} inside @param {Packing} packing @param {TextOf} [textOf] */
  constructor(inside, packing, textOf) {
    this.inside = inside;
    this.packing = packing;
    this.textOf = textOf;
    /** @type {Map<string, Float32Array>} */
    this.unpacked = new Map(); // the one that was asked for last is the last
  }

  /** Get the weights of one head, `[query, key]`, if they are at hand.
   * @param {string} kind @param {number} layer @param {number} head */
  get(kind, layer, head) {
    const { whole, heads, sizes } = this.inside;
    if (!whole[kind]) {
      const name = [kind, layer, head].join(".");
      const weights = this.unpacked.get(name);
      if (weights) this.keep(name, weights);
      return weights;
    }
    const first = (layer * heads[kind] + head) * sizes[kind];
    return whole[kind].subarray(first, first + sizes[kind]);
  }

  /** Unpack the weights of a head. @throws if the page does not have them
   * @param {string} kind @param {number} layer @param {number} head */
  async load(kind, layer, head) {
    const name = [kind, layer, head].join(".");
    if (!this.textOf) throw new Error(`no weights of ${name}`);
    const weights = await unpack(await this.textOf(name), this.packing);
    if (weights.length !== this.inside.sizes[kind]) throw new Error(`${name} is cut`);
    this.keep(name, weights);
    for (const old of this.unpacked.keys()) {
      if (this.unpacked.size <= LARGEST_CACHE) break;
      this.unpacked.delete(old);
    }
  }

  /** Keep the weights of a head as the last used.
   * @param {string} name @param {Float32Array} weights */
  keep(name, weights) {
    this.unpacked.delete(name);
    this.unpacked.set(name, weights);
  }
}

/** @param {string} text @param {Packing} packing @returns {Promise<Float32Array>} */
export async function unpack(text, { dtype, unit }) {
  const planes = await unzip(text);
  const Type = TYPES[dtype];
  const wide = Type.BYTES_PER_ELEMENT;
  const count = planes.length / wide;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0, from = 0; plane < wide; plane++) {
    for (let at = plane; at < bytes.length; at += wide) bytes[at] = planes[from++];
  }
  const numbers = new Type(bytes.buffer, 0, count);
  if (numbers instanceof Float32Array) return numbers;
  return new Float32Array(numbers).map((steps) => steps * unit);
}

export const PAIR_KIND = "encoder_self"; // the one kind whose rows and columns are a pair

/**
 * @typedef {object} PairPart as viz/draw/pair_parts.py writes it
 * @property {"first" | "second"} looking
 * @property {"first" | "second"} looked_at
 * @property {[first: number, end: number]} rows
 * @property {[first: number, end: number]} keys
 * @property {string} note instead of the map's own
 * @property {import("../head_grid/plan.ts").Part} part all heads small
 */

/** @param {PairPart} part */
export const nameOf = ({ looking, looked_at: lookedAt }) => `${looking} → ${lookedAt}`;

/**
 * Take the labels and words of this part out of a map or its ribbons.
 * @template {{queries: string[], keys: string[], rowNames: string[] | null, rows: string,
 *   columns: string}} D
 * @param {D} data
 * @param {PairPart} part
 * @returns {D}
 */
export const labelsOf = (data, { rows, keys, looking, looked_at: lookedAt }) => ({
  ...data,
  queries: data.queries.slice(...rows),
  keys: data.keys.slice(...keys),
  rowNames: data.rowNames && data.rowNames.slice(...rows),
  rows: `${data.rows} (${looking} text)`,
  columns: `${data.columns} (${lookedAt} text)`,
});

/**
 * Take the weights of this part, `[query, key]`.
 * @param {Float32Array} weights of the whole map
 * @param {number} width how many keys that has
 * @param {PairPart} part
 */
export function weightsOf(weights, width, { rows: [first, end], keys: [left, right] }) {
  const wide = right - left;
  const part = new Float32Array((end - first) * wide);
  for (let row = first; row < end; row++) {
    const from = row * width;
    part.set(weights.subarray(from + left, from + right), (row - first) * wide);
  }
  return part;
}
