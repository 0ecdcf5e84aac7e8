// What `encode_explorer` in viz/report.py says: messages of other components, one in the other.

import { read as readMap } from "../attention_map/data.js";
import { decode } from "../core/wire.js";
import { read as readGrid } from "../head_grid/data.js";
import { read as readView } from "../head_view/data.js";

/** A map: kind, layer and head from 0; null stands for the mean over layers or heads.
 * @typedef {[kind: string, layer: number | null, head: number | null]} Opened */

/**
 * @typedef {object} OfKind
 * @property {number} layers
 * @property {number} heads of a layer
 * @property {import("../attention_map/data.js").MapData} map of the first head, with all labels
 * @property {import("../head_view/data.js").ViewData} view likewise
 * @property {Float32Array} weights `[layer, head, query, key]`
 */

/**
 * @typedef {object} ExplorerData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {Opened} selected which is open first
 * @property {string} title of that map
 * @property {string | null} together what stands in the place of a head, where a map is of a layer
 * @property {[layer: number, head: number][]} over whose ribbons lie over its own
 * @property {import("../attention_map/data.js").MapData[]} compared a second map, the difference
 * @property {import("../head_grid/data.js").GridData} grid
 * @property {Record<string, OfKind>} kinds
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {ExplorerData}
 */
export function read({ meta, arrays }) {
  const inner = /** @type {Record<string, Uint8Array>} */ (arrays);
  const grid = readGrid(decode(inner.grid));
  /** @type {[string, [number, number]][]} */
  const sizes = Object.entries(meta.kinds);
  const kinds = Object.fromEntries(sizes.map(([kind, [layers, heads]]) => [kind, {
    layers, heads,
    map: readMap(decode(inner[`${kind}.map`])),
    view: readView(decode(inner[`${kind}.view`])),
    weights: /** @type {Float32Array} */ (arrays[`${kind}.weights`]),
  }]));
  const compared = Array.from({ length: meta.compared }, (_, n) =>
    readMap(decode(inner[`compared.${n}`])));
  const { selected, title, over, together } = meta;
  return { selected, title, over, together, grid, kinds, compared };
}

/**
 * The weights of one map, `[query, key]`.
 * @param {OfKind} ofKind
 * @param {number | null} layer null for the mean over all
 * @param {number | null} head
 * @returns {Float32Array}
 */
export function weightsOf({ layers, heads, map, weights }, layer, head) {
  const count = map.queries.length * map.keys.length;
  const single = layers * heads;
  const numbers = Array.from({ length: single }, (_, n) => n).filter((n) =>
    (layer == null || Math.floor(n / heads) === layer) && (head == null || n % heads === head));
  return Float32Array.from({ length: count }, (_, at) =>
    numbers.reduce((sum, n) => sum + weights[n * count + at], 0) / numbers.length);
}

/**
 * Bytes from a page that carries them as text.
 * @param {string} text gzip in base64
 * @returns {Promise<Uint8Array>}
 */
export async function unzip(text) {
  const packed = Uint8Array.from(atob(text.trim()), (one) => one.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
