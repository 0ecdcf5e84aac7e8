// What `encode_explorer` in viz/report.py says: messages of other components, one in the other.

import { read as readMap } from "../attention_map/data.js";
import { decode } from "../core/wire.js";
import { read as readGrid } from "../head_grid/data.js";
import { read as readView } from "../head_view/data.js";

/**
 * @typedef {object} OfKind
 * @property {number} heads of a layer
 * @property {import("../attention_map/data.js").MapData} map of the first head, with all labels
 * @property {import("../head_view/data.js").ViewData} view likewise
 * @property {Float32Array} weights `[layer, head, query, key]`
 */

/**
 * @typedef {object} ExplorerData
 * @property {import("../head_grid/data.js").Head} selected
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
  const kinds = Object.fromEntries(grid.parts.map(({ kind, heads }) => [kind, {
    heads,
    map: readMap(decode(inner[`${kind}.map`])),
    view: readView(decode(inner[`${kind}.view`])),
    weights: /** @type {Float32Array} */ (arrays[`${kind}.weights`]),
  }]));
  return { selected: meta.selected, grid, kinds };
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
