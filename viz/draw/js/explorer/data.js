// Message of `encode_page` in viz/draw/explorer.py: messages of other components in one.

import { read as readMap } from "../attention_map/data.js";
import { unzip } from "../core/page_text.js";
import { TYPES, decode } from "../core/wire.js";
import { read as readGrid } from "../head_grid/data.js";
import { read as readRibbons } from "../ribbons/data.js";

/** @import { MapData } from "../attention_map/data.js" */

/** A map: kind, layer and head from 0; null stands for the mean over layers or heads.
 * @typedef {[kind: string, layer: number | null, head: number | null]} Opened */

/**
 * @typedef {object} KindData
 * @property {MapData} map with all labels; its weights are 0
 * @property {import("../ribbons/data.js").RibbonData} ribbons likewise
 */

/**
 * @typedef {object} ExplorerData
 * @property {undefined} [caption] its parts have their own
 * @property {Opened} selected which is open first
 * @property {string} title of that map
 * @property {Float32Array | null} mean its weights, where it is a mean and no head
 * @property {string | null} together what stands in the place of a head, where a map is of a layer
 * @property {[layer: number, head: number][]} over whose ribbons lie over its own
 * @property {number} mostHeads that lie over each other: there are as many colours
 * @property {MapData[]} compared a second map, the difference
 * @property {import("../head_grid/data.js").GridData} grid
 * @property {import("./pair.js").PairPart[]} pairs the parts of a pair of texts; none of one text
 * @property {Record<string, KindData>} kinds
 * @property {HeadWeights} weights
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @param {TextOf} [textOf] where the weights are that the message has not
 * @returns {ExplorerData}
 */
export function read({ meta, arrays }, textOf) {
  const inner = /** @type {Record<string, Uint8Array>} */ (arrays);
  const grid = readGrid(decode(inner.grid));
  const { selected, title, over, mostHeads, together, packing } = meta;
  const kinds = Object.fromEntries(Object.keys(meta.kinds).map((kind) => {
    const ribbons = readRibbons(decode(inner[`${kind}.ribbons`]));
    const note = meta.ribbonNote ?? ribbons.note;
    const map = readMap(decode(inner[`${kind}.map`]));
    return [kind, { map, ribbons: { ...ribbons, note } }];
  }));
  const pairs = meta.pairs.map((/** @type {any} */ part, /** @type {number} */ n) =>
    ({ ...part, part: readGrid(decode(inner[`pair.${n}`])).parts[0] }));
  const compared = Array.from({ length: meta.compared }, (_, n) =>
    readMap(decode(inner[`compared.${n}`])));
  const heads = /** @type {Record<string, number>} */ (Object.fromEntries(
    Object.entries(meta.kinds).map(([kind, [, count]]) => [kind, count])));
  const whole = /** @type {Record<string, Float32Array>} */ (Object.fromEntries(
    Object.keys(kinds).flatMap((kind) => {
      const weights = arrays[`${kind}.weights`];
      return weights ? [[kind, weights]] : [];
    })));
  const mean = /** @type {Float32Array | undefined} */ (arrays.mean) ?? null;
  const sizes = Object.fromEntries(Object.entries(kinds).map(([kind, { map }]) =>
    [kind, map.queries.length * map.keys.length]));
  const weights = new HeadWeights({ whole, heads, sizes }, packing, textOf);
  return {
    selected, title, mean, over, mostHeads, together, grid, pairs, kinds, compared, weights,
  };
}

const LARGEST_CACHE = 24; // heads that stay unpacked; of 512 tokens each is a megabyte

/** The text of a head by its name, such as `cross.2.5`.
 * @typedef {(name: string) => Promise<string>} TextOf */

/** The encoding of a text, as `Packing` in viz/draw/explorer.py.
 * @typedef {{dtype: keyof typeof TYPES, unit: number}} Packing */

/**
 * @typedef {object} Inside
 * @property {Record<string, Float32Array>} whole `[layer, head, query, key]` of the kinds that came
 * @property {Record<string, number>} heads of a layer in `whole`
 * @property {Record<string, number>} sizes weights of one head
 */

export class HeadWeights {
  /**
   * @param {Inside} inside
   * @param {Packing} packing
   * @param {TextOf} [textOf]
   */
  constructor(inside, packing, textOf) {
    this.inside = inside;
    this.packing = packing;
    this.textOf = textOf;
    /** @type {Map<string, Float32Array>} */
    this.unpacked = new Map(); // the one that was asked for last is the last
  }

  /**
   * The weights of one head, `[query, key]`, if they are at hand.
   * @param {string} kind
   * @param {number} layer
   * @param {number} head
   */
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

  /**
   * Unpack the weights of a head.
   * @param {string} kind
   * @param {number} layer
   * @param {number} head
   * @throws if the page does not have them
   */
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

  /**
   * Keep the weights of a head as the last used.
   * @param {string} name
   * @param {Float32Array} weights
   */
  keep(name, weights) {
    this.unpacked.delete(name);
    this.unpacked.set(name, weights);
  }
}

/**
 * @param {string} text
 * @param {Packing} packing
 * @returns {Promise<Float32Array>}
 */
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
