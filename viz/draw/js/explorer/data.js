// What `encode_explorer` in viz/draw/explorer.py says: messages of other components in one.

import { read as readMap } from "../attention_map/data.js";
import { decode } from "../core/wire.js";
import { read as readGrid } from "../head_grid/data.js";
import { read as readRibbons } from "../ribbons/data.js";
import { HeadWeights } from "./weights.js";

/** A map: kind, layer and head from 0; null stands for the mean over layers or heads.
 * @typedef {[kind: string, layer: number | null, head: number | null]} Opened */

/**
 * @typedef {object} OfKind
 * @property {import("../attention_map/data.js").MapData} map with all labels; its weights are 0
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
 * @property {import("../attention_map/data.js").MapData[]} compared a second map, the difference
 * @property {import("../head_grid/data.js").GridData} grid
 * @property {import("./pair.js").PairPart[]} pairs the parts of a pair of texts; none of one text
 * @property {Record<string, OfKind>} kinds
 * @property {HeadWeights} weights
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @param {import("./weights.js").TextOf} [textOf] where the weights are that the message has not
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
