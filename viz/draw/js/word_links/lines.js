// Two sentences that are longer than the page is wide are broken together, each line of the one
// over its line of the other, where the fewest links are cut.

/** @typedef {import("./data.js").Link} Link */
/** @typedef {import("./data.js").Side} Side */
/** From the first word up to the one after the last. @typedef {[from: number, to: number]} Span */
/** @typedef {Record<Side, Span>} LinePair */

// what a break costs, in strengths of cut links
const LINE = 1; // one more pair of lines
const RAGGED = 1; // a line that stays empty; less for one that is nearly full, by the square
const FARTHEST = 24; // words by which one sentence may be ahead of the other: bounds the search

/**
 * The cheapest way to break both, found by dynamic programming over the pairs of places where a
 * line can end.
 * @param {Record<Side, number[]>} sizes of the words; none is longer than the room
 * @param {Link[]} links
 * @param {number} gap between two words
 * @param {number} room of a line
 * @returns {LinePair[]}
 */
export function brokenTogether(sizes, links, gap, room) {
  const [n, m] = [sizes.source.length, sizes.target.length];
  const cut = cutStrength(n, m, links);
  const emptiness = {
    source: emptinessFrom(sizes.source, gap, room), target: emptinessFrom(sizes.target, gap, room),
  };
  const best = new Float64Array((n + 1) * (m + 1)).fill(Infinity);
  const cameFrom = new Int32Array(best.length);
  best[0] = 0;
  for (let place = 0; place < best.length; place++) {
    const [i, j] = [Math.floor(place / (m + 1)), place % (m + 1)];
    if (best[place] === Infinity || Math.abs(i * m - j * n) > FARTHEST * Math.max(n, m)) continue;
    const [above, below] = [emptiness.source[i], emptiness.target[j]];
    for (let words = 0; words < above.length; words++) {
      for (let others = words ? 0 : 1; others < below.length; others++) {
        const end = place + words * (m + 1) + others;
        const cost = best[place] + LINE + cut(i + words, j + others)
          + RAGGED * (above[words] ** 2 + below[others] ** 2) / 2;
        if (cost < best[end]) {
          best[end] = cost;
          cameFrom[end] = place;
        }
      }
    }
  }
  /** @type {LinePair[]} */
  const lines = [];
  for (let end = best.length - 1; end > 0; end = cameFrom[end]) {
    const start = cameFrom[end];
    lines.unshift({
      source: [Math.floor(start / (m + 1)), Math.floor(end / (m + 1))],
      target: [start % (m + 1), end % (m + 1)],
    });
  }
  return lines;
}

/**
 * For each first word of a line and each number of words that fit, which share of it stays empty.
 * @param {number[]} sizes
 * @param {number} gap
 * @param {number} room
 */
function emptinessFrom(sizes, gap, room) {
  return [...sizes.keys(), sizes.length].map((from) => {
    const found = [1];
    for (let length = 0, to = from; to < sizes.length; to++) {
      length += sizes[to] + (to > from ? gap : 0);
      if (length > room) break;
      found.push(1 - length / room);
    }
    return found;
  });
}

/**
 * The strength of all links between what stands before a pair of places and what stands after it,
 * from sums over the links of the first i and the first j words.
 * @param {number} n
 * @param {number} m
 * @param {Link[]} links
 * @returns {(i: number, j: number) => number}
 */
function cutStrength(n, m, links) {
  const sums = new Float64Array((n + 1) * (m + 1));
  /** @param {number} i @param {number} j */
  const at = (i, j) => i * (m + 1) + j;
  for (const { source, target, strength } of links) sums[at(source + 1, target + 1)] += strength;
  for (let i = 1; i <= n; i++) {
    for (let j = 1; j <= m; j++) {
      sums[at(i, j)] += sums[at(i - 1, j)] + sums[at(i, j - 1)] - sums[at(i - 1, j - 1)];
    }
  }
  return (i, j) => sums[at(i, m)] + sums[at(n, j)] - 2 * sums[at(i, j)];
}
