// What a player shows, as `encode_player` and `encode_learning` of viz/draw/player.py send it, and
// the weights of a head at any moment between two steps.

/** @typedef {"encoder_self" | "decoder_self" | "cross"} Kind */
/** @typedef {{kind: Kind, layer: number, head: number}} Head */

/**
 * @typedef {object} KindData
 * @property {Kind} kind
 * @property {string} name
 * @property {string} color
 * @property {number} layers
 * @property {number} heads of each layer
 * @property {[layer: number, head: number]} selected what is open first
 * @property {Uint16Array} weights `[moment, layer, head, query, key]`, 65,535 for 1
 * @property {[query: number, key: number]} size
 * @property {import("../core/color.ts").Palette} palette
 */

/**
 * @typedef {object} PlayerData
 * @property {string} title
 * @property {string[]} source its subwords
 * @property {string[]} written those of the translation, after the token that it begins with
 * @property {[source: string, target: string]} languages
 * @property {string} outside what is not drawn of a long sentence; "" where all is
 * @property {Kind} kind that is open first
 * @property {KindData[]} kinds
 * @property {{options: {label: string, p: number}[], taken: number, beginnings: string[]}[]} steps
 *   of a search
 * @property {{number: number, written: string | null, loss: string}[]} training saved steps of a
 *   run, instead; `written` is null where the run did not save it
 * @property {Kind} [kind] of a run: what is open first
 * @property {number | null} [moment] likewise; null plays
 * @property {number} [arrival] changes where the player begins anew
 * @property {{source: number, target: number, mutual: boolean, strength: number}[]} links
 *   between the first subwords of words
 */

const ONE = 65_535;

/** @param {import("../core/wire.ts").Message} message @returns {PlayerData} */
export function readPlayer({ meta, arrays, shapes }) {
  const kinds = meta.kinds.map((/** @type {KindData} */ kind) => ({
    ...kind, weights: arrays[kind.kind], size: shapes[kind.kind].slice(3),
    palette: { light: arrays[`${kind.kind}.light`], dark: arrays[`${kind.kind}.dark`] },
  }));
  return { ...meta, kinds };
}

/** Count the moments of a kind: saved steps of a run; source subwords in the encoder; else steps
 * of the search. @param {PlayerData} data @param {KindData} kind */
export function momentsOf({ training }, { size }) {
  return training.length || size[0];
}

/**
 * Get a weight, from 0 to 1.
 * @param {KindData} kind @param {number} moment of a training run, else 0
 * @param {number} layer @param {number} head @param {number} query @param {number} key
 */
export function weightOf({ weights, layers, heads, size: [queries, keys] }, moment, layer, head,
  query, key) {
  const map = (moment * layers + layer) * heads + head;
  return weights[(map * queries + query) * keys + key] / ONE;
}

/**
 * Mix the rows before and after a moment: what a head looks at while one becomes the other.
 * @param {KindData} kind @param {Head} head @param {number} query @param {number} part of 1
 * @returns {number[]} a weight for each key
 */
export function rowBetween(kind, { layer, head }, query, part) {
  return Array.from({ length: kind.size[1] }, (_, key) => {
    const now = weightOf(kind, 0, layer, head, query, key);
    const before = query ? weightOf(kind, 0, layer, head, query - 1, key) : 0;
    return before + part * (now - before);
  });
}

/**
 * Mix the maps of two saved steps of a run.
 * @param {KindData} kind @param {Head} head @param {number} moment @param {number} part of 1
 * @returns {number[][]} `[query][key]`
 */
export function mapBetween(kind, { layer, head }, moment, part) {
  const before = Math.max(0, moment - 1);
  return Array.from({ length: kind.size[0] }, (_, query) =>
    Array.from({ length: kind.size[1] }, (__, key) => {
      const from = weightOf(kind, before, layer, head, query, key);
      return from + part * (weightOf(kind, moment, layer, head, query, key) - from);
    }));
}

/** Find the largest number of a row. @param {number[]} row */
export const strongest = (row) => row.indexOf(Math.max(...row));

/** Write a share in whole per cent, never 0 or 100 where it is neither. @param {number} share */
export function percent(share) {
  if (share > 0 && share < 0.01) return "below 1 %";
  if (share < 1 && share > 0.99) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}
