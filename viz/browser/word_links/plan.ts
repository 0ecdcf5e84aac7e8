// The words of a sentence and of its translation, with their links, and the layout of the words.
// Where there is room, a line of the one sentence over a line of the other, as each is read, from
// the left or from the right; on a phone a column beside a column, where a long word is one row all
// the same.

import { runsLeft, shortened, within } from "../core/text.ts";
import type { Place } from "../core/scene.ts";
import type { Measure } from "../core/theme.ts";

export type Side = "source" | "target";
export interface Token { side: Side; index: number }
export interface Link { source: number; target: number; strength: number; mutual: boolean }

export interface LinkData { // as from_trace.ts makes it
  title: string;
  madeBy: string; // layer, heads, row and lens, in a line
  note: string;
  color: string; // of the links
  source: string[]; // the words that were read
  target: string[]; // the words that were written
  languages: [string, string]; // what both are called
  links: Link[];
  shares: Shares | null; // of the source, where they are to be seen
}

/** Values of each word, 0 to 1: how much a source word was used, and which share of a written one
 * comes from the source; and that of its cross-attention on sinks. */
type Shares = Record<Side | "onSinks", ArrayLike<number>>;

export const OTHER: Record<Side, Side> = { source: "target", target: "source" };

export const linksOf = ({ links }: Pick<LinkData, "links">, { side, index }: Token) =>
  links.filter((link) => link[side] === index).sort((a, b) => b.strength - a.strength);

export const same = (token: Token | null, other: Token | null) =>
  token?.side === other?.side && token?.index === other?.index;

/** A word's place; its text is cut where it has no room. */
export type WordPlace = Place & { text: string };

/** `many`: there are several pairs of lines; `bend`: how far a link leaves a word straight. */
export type LinkPlan = ReturnType<typeof planLinks>;

export const NUMBER = { font: 12, width: 30, height: 16 }; // of a strength beside a word
export const BAR = { width: 30, height: 4, room: 9 }; // the room is the word's
const NARROW = 480; // frames of less have columns
// letters as large as they can be without a line more than the smallest would need
const FONTS = [24, 21, 18, 16];
const LINES = { gap: 0.8, line: 1.75, pad: 4, links: 84, between: 12 }; // the first two in letters
const BROKEN = { links: 62, slack: 1.15 }; // several pairs of lines; they are not filled to the end
export const SIDES = ["source", "target"] as const;
const COLUMNS = { font: 15, row: 28, links: 72, most: 200, edge: 8 };

const both = <T>(valueOf: (side: Side) => T): Record<Side, T> =>
  ({ source: valueOf("source"), target: valueOf("target") });

export const planLinks = (data: LinkData, width: number, measure: Measure) =>
  (width < NARROW ? inColumns : inLines)(data, width, measure);

function inLines(data: LinkData, width: number, measure: Measure) {
  const { font, gap, texts, sizes } = largest(data, width, measure);
  const pairs = brokenTogether(sizes, data.links, gap, width);
  const line = Math.round(LINES.line * font);
  const leftward = leftwardOf(data);
  const links = pairs.length > 1 ? BROKEN.links : LINES.links;
  const high = 2 * NUMBER.height + 2 * line + links;
  const places: Record<Side, WordPlace[]> = { source: [], target: [] };
  pairs.forEach((pair, n) => {
    const top = n * (high + LINES.between) + NUMBER.height;
    const starts = placeWords(pair, sizes, data.links, gap, width, leftward);
    for (const side of SIDES) {
      const y = top + (side === "source" ? 0 : line + links);
      starts[side].forEach((x, nth) => {
        const index = pair[side][0] + nth;
        places[side].push({
          text: texts[side][index], x, y, width: sizes[side][index], height: line,
        });
      });
    }
  });
  return {
    columns: false, many: pairs.length > 1, font, places, bend: links / 2, width,
    height: pairs.length * (high + LINES.between) - LINES.between,
  };
}

function largest(data: LinkData, width: number, measure: Measure) {
  const all = FONTS.map((font) => {
    const wideOf = (word: string) => Math.ceil(measure(word, font, 600));
    const texts = both((side) =>
      data[side].map((word) => shortened(word, width - 2 * LINES.pad, wideOf)));
    // a word has the room of its number too
    const sizes = both((side) =>
      texts[side].map((word) => Math.max(NUMBER.width, wideOf(word)) + 2 * LINES.pad));
    return { font, gap: Math.round(LINES.gap * font), texts, sizes };
  });
  const count = ({ gap, sizes }: (typeof all)[number]) => {
    const lines = Math.max(...SIDES.map((side) => lengthOf(sizes[side], gap))) / width;
    return lines <= 1 ? 1 : Math.max(2, Math.ceil(BROKEN.slack * lines));
  };
  const fewest = count(all[all.length - 1]);
  return all.find((words) => count(words) <= fewest) as (typeof all)[number];
}

function inColumns(data: LinkData, width: number, measure: Measure) {
  const { font, row, edge } = COLUMNS;
  const wideOf = (word: string) => Math.ceil(measure(word, font, 600));
  const beside = NUMBER.width + 2 * edge; // of a word: its number, and air at both sides
  const most = (width - COLUMNS.links) / 2 - beside;
  const texts = both((side) => data[side].map((word) => shortened(word, most, wideOf)));
  const [left, right] = SIDES.map((side) => Math.max(0, ...texts[side].map(wideOf)) + beside);
  const middle = Math.min(width - left - right, COLUMNS.most);
  const rows = Math.max(data.source.length, data.target.length);
  const whole = both((side) => [0, data[side].length] as [number, number]);
  const sizes = both((side) => Array(data[side].length).fill(row));
  const starts = placeWords(whole, sizes, data.links, 0, rows * row, both(() => false));
  const column = (side: Side, x: number, wide: number) => starts[side].map((y, n) =>
    ({ text: texts[side][n], x, y, width: wide, height: row }));
  return {
    columns: true, many: false, font, bend: middle / 2, width, height: rows * row,
    places: { source: column("source", 0, left), target: column("target", left + middle, right) },
  };
}

export const leftwardOf = (data: Pick<LinkData, Side>) =>
  both((side) => runsLeft(data[side].join(" ")));

/** Place the words of two lines: the longer packed, the other as near to its partners as it can.
 * @param leftward whether the words of a line follow one another leftward */
function placeWords(
  pair: LinePair, all: Record<Side, number[]>, links: Link[], gap: number, room: number,
  leftward: Record<Side, boolean>,
): Record<Side, number[]> {
  const sizes = both((side) => all[side].slice(...pair[side]));
  const wider = lengthOf(sizes.source, gap) >= lengthOf(sizes.target, gap) ? "source" : "target";
  const other = OTHER[wider];
  const free = sizes[wider].map(() => ({ center: 0, weight: 0 }));
  const end = lengthOf(sizes[wider], gap);
  // turned round where its words follow one another to the left
  const turned = (side: Side, starts: number[]) => (leftward[side]
    ? starts.map((start, n) => end - start - sizes[side][n]) : starts);
  const packed = turned(wider, placed(free, sizes[wider], gap, room));
  const [from, to] = pair[wider];
  const wanted = sizes[other].map((_, n) => {
    let [sum, weight] = [0, 0];
    for (const link of links) {
      const at = link[wider];
      if (link[other] !== pair[other][0] + n || at < from || at >= to) continue;
      sum += link.strength * (packed[at - from] + sizes[wider][at - from] / 2);
      weight += link.strength;
    }
    const center = weight && sum / weight;
    return { center: leftward[other] && weight ? end - center : center, weight };
  });
  const beside = turned(other, placed(wanted, sizes[other], gap, end));
  // two lines that both begin at the right stand there
  const shift = leftward.source && leftward.target ? Math.max(0, room - end) : 0;
  const shifted = (starts: number[]) => starts.map((start) => start + shift);
  return { [wider]: shifted(packed), [other]: shifted(beside) } as Record<Side, number[]>;
}

type Span = [from: number, to: number];
type LinePair = Record<Side, Span>;

// what a break costs, in strengths of cut links
const LINE = 1; // one more pair of lines
const RAGGED = 1; // a line that stays empty; less for one that is nearly full, by the square
const FARTHEST = 24; // words by which one sentence may be ahead of the other: bounds the search

/** The cheapest way to break both, found by dynamic programming over the pairs of places where a
 * line can end.
 * @param sizes of the words; none is longer than the room */
export function brokenTogether(
  sizes: Record<Side, number[]>, links: Link[], gap: number, room: number,
): LinePair[] {
  const [n, m] = [sizes.source.length, sizes.target.length];
  const cut = cutStrength(n, m, links);
  const emptiness = both((side) => emptinessFrom(sizes[side], gap, room));
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
  const lines: LinePair[] = [];
  for (let end = best.length - 1; end > 0; end = cameFrom[end]) {
    const start = cameFrom[end];
    lines.unshift({
      source: [Math.floor(start / (m + 1)), Math.floor(end / (m + 1))],
      target: [start % (m + 1), end % (m + 1)],
    });
  }
  return lines;
}

/** For each first word of a line and each number of words that fit, the share that stays empty. */
function emptinessFrom(sizes: number[], gap: number, room: number) {
  return [...sizes.keys(), sizes.length].map((from) => {
    const shares = [1];
    for (let length = 0, to = from; to < sizes.length; to++) {
      length += sizes[to] + (to > from ? gap : 0);
      if (length > room) break;
      shares.push(1 - length / room);
    }
    return shares;
  });
}

/** The strength of all links between what stands before a pair of places and what stands after it,
 * from sums over the links of the first i and the first j words. */
function cutStrength(n: number, m: number, links: Link[]): (i: number, j: number) => number {
  const sums = new Float64Array((n + 1) * (m + 1));
  const at = (i: number, j: number) => i * (m + 1) + j;
  for (const { source, target, strength } of links) sums[at(source + 1, target + 1)] += strength;
  for (let i = 1; i <= n; i++) {
    for (let j = 1; j <= m; j++) {
      sums[at(i, j)] += sums[at(i - 1, j)] + sums[at(i, j - 1)] - sums[at(i - 1, j - 1)];
    }
  }
  return (i, j) => sums[at(i, m)] + sums[at(n, j)] - 2 * sums[at(i, j)];
}

const LOOSE = 1e-3; // how much a word without a partner pulls at its neighbours

/** The starts of a line's words that are nearest, by least squares, to what is wanted: isotonic
 * regression by pooling adjacent violators (Barlow et al. 1972) on what remains of the wanted
 * places once the words before have theirs.
 * @param wanted where the middle of each word would stand, and how much; a word of weight 0 follows
 *   the one before it
 * @param gap least room between two
 * @param room of the line, which holds them all */
export function placed(
  wanted: { center: number; weight: number }[], sizes: number[], gap: number, room: number,
) {
  const offsets = [0];
  for (const size of sizes) offsets.push(offsets[offsets.length - 1] + size + gap);
  const pulls = wanted.map(({ center, weight }, n) =>
    ({ at: center - sizes[n] / 2 - offsets[n], weight }));
  let before = pulls.find(({ weight }) => weight)?.at ?? 0;
  const pools: { at: number; weight: number; count: number }[] = [];
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

const lengthOf = (sizes: number[], gap: number) =>
  sizes.reduce((sum, size) => sum + size + gap, 0) - (sizes.length ? gap : 0);
