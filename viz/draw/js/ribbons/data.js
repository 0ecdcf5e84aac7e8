// Message of `encode_ribbons` in viz/draw/attention_map.py: up to eight heads with their exact weights.

/** @typedef {"queries" | "keys"} Side */
/** A word of one of the two lists. @typedef {{side: Side, index: number}} Token */

/**
 * @typedef {object} RibbonData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} kind
 * @property {string[]} heads their names
 * @property {{light: string[], dark: string[]}} colors of the heads
 * @property {string} rows what stands on the left, in words
 * @property {string} columns
 * @property {string} note
 * @property {string} [amount] how a ribbon's width is called, where it is no weight
 * @property {number} from weights of less get no ribbon
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {string[] | null} rowNames what the decoder reads and writes at each query
 * @property {Float32Array} weights `[head, query, key]`
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {RibbonData}
 */
export const read = ({ meta, arrays }) => ({ ...meta, weights: arrays.weights });

/** @type {Record<Side, Side>} */
export const OTHER = { queries: "keys", keys: "queries" };

/**
 * @param {Pick<RibbonData, "queries" | "keys" | "weights">} data
 * @param {number} head
 * @param {number} query
 * @param {number} key
 */
export const weightOf = ({ queries, keys, weights }, head, query, key) =>
  weights[(head * queries.length + query) * keys.length + key];

/**
 * Sort a token and a token of the other side into query and key.
 * @param {Token} token
 * @param {{index: number}} other
 * @returns {[query: number, key: number]}
 */
export const pair = (token, other) =>
  (token.side === "queries" ? [token.index, other.index] : [other.index, token.index]);

/** @typedef {{head: number, query: number, key: number, weight: number}} Ribbon */

/**
 * The weights that are drawn as ribbons, the largest last and so on top.
 * @param {RibbonData} data
 * @param {number[]} on the heads that are switched on
 * @param {Token | null} token whose ribbons they are; all ribbons by default
 * @returns {Ribbon[]}
 */
export function ribbonsOf(data, on, token) {
  const queries = span(data.queries.length, token?.side === "queries" ? token.index : null);
  const keys = span(data.keys.length, token?.side === "keys" ? token.index : null);
  const ribbons = [];
  for (const head of on) {
    for (let query = queries.first; query < queries.end; query++) {
      for (let key = keys.first; key < keys.end; key++) {
        const weight = weightOf(data, head, query, key);
        if (weight >= data.from) ribbons.push({ head, query, key, weight });
      }
    }
  }
  return ribbons.sort((a, b) => a.weight - b.weight);
}

/** Select all of a side, or one index of it. @param {number} count @param {number | null} index */
const span = (count, index) =>
  (index == null ? { first: 0, end: count } : { first: index, end: index + 1 });
