// Where the words of one line stand: in their order, none over another, and each as near to its
// partners as that allows.

import { within } from "../core/text.js";

const LOOSE = 1e-3; // how much a word without a partner pulls at its neighbours

/**
 * The starts of a line's words that are nearest, by least squares, to what is wanted: isotonic
 * regression by pooling adjacent violators (Barlow et al. 1972) on what remains of the wanted
 * places once the words before have theirs.
 * @param {{center: number, weight: number}[]} wanted where the middle of each word would stand, and
 *   how much; a word of weight 0 follows the one before it
 * @param {number[]} sizes of the words
 * @param {number} gap least room between two
 * @param {number} room of the line, which holds them all
 */
export function placed(wanted, sizes, gap, room) {
  const offsets = [0];
  for (const size of sizes) offsets.push(offsets[offsets.length - 1] + size + gap);
  const pulls = wanted.map(({ center, weight }, n) =>
    ({ at: center - sizes[n] / 2 - offsets[n], weight }));
  let before = pulls.find(({ weight }) => weight)?.at ?? 0;
  /** @type {{at: number, weight: number, count: number}[]} */
  const pools = [];
  for (const { at, weight } of pulls) {
    if (weight) before = at;
    let pool = { at: before, weight: weight || LOOSE, count: 1 };
    for (let last = pools.at(-1); last && last.at > pool.at; last = pools.at(-1)) {
      pools.pop();
      const sum = last.weight + pool.weight;
      pool = {
        at: (last.at * last.weight + pool.at * pool.weight) / sum, weight: sum,
        count: last.count + pool.count,
      };
    }
    pools.push(pool);
  }
  const most = Math.max(0, room - (offsets[sizes.length] - gap));
  return pools.flatMap(({ at, count }) => Array(count).fill(within(at, 0, most)))
    .map((at, n) => at + offsets[n]);
}

/**
 * The length of words in a row.
 * @param {number[]} sizes
 * @param {number} gap
 */
export const lengthOf = (sizes, gap) =>
  sizes.reduce((sum, size) => sum + size + gap, 0) - (sizes.length ? gap : 0);
