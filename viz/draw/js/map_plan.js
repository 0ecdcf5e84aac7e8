// Where everything on the large map goes. Nothing is cut: words are measured and get their room; a
// map with many words gets smaller squares and smaller letters, and below 10 px it scrolls instead.

import { EDGE, TALLEST } from "./shared.js";

// the strip over the keys: one row's weights as bars with numbers; differences go up and down
const BARS = { weights: 48, differences: 76 };

// below `easy` a square is hard to hit, so a long map rather scrolls down than shrinks further
const SQUARE = { largest: 46, easy: 16, smallest: 14 };
const LETTERS = { largest: 14, smallest: 10 };
const SLANT = Math.PI / 4;

export const AVERAGE = "average";

/**
 * @param {object} data the queries' and the keys' labels, and whether it is a difference
 * @param {number} width of the frame
 * @param {(text: string) => number} measure width of a text at `LETTERS.largest` px
 */
export function plan({ queries, keys, signed }, width, measure) {
  const bars = signed ? BARS.differences : BARS.weights;
  const rows = Math.max(measure(AVERAGE), ...queries.map(measure));
  const columns = keys.map(measure);
  for (let square = SQUARE.largest; square > SQUARE.smallest; square--) {
    const made = lay(rows, columns, queries.length, square, bars);
    if (made.width <= width && (made.height <= TALLEST || square <= SQUARE.easy)) return made;
  }
  return lay(rows, columns, queries.length, SQUARE.smallest, bars);
}

function lay(rows, columns, count, square, bars) {
  const font = Math.max(LETTERS.smallest, Math.min(LETTERS.largest, Math.floor(square * 0.62)));
  const scale = font / LETTERS.largest;
  const lengths = columns.map((length) => length * scale);
  const longest = Math.max(...lengths);
  const angle = turn(longest, square, font);
  const left = Math.ceil(rows * scale + 2 * EDGE);
  // a slanted word leans out over the columns to its right; the last ones lean past the edge
  const lean = Math.max(0, ...lengths.map((length, key) =>
    length * Math.cos(angle) - (columns.length - key - 0.5) * square));
  const head = Math.ceil(longest * Math.sin(angle) + font * Math.cos(angle)) + 6;
  return {
    square, font, angle, left, bars,
    top: head + bars, // where the squares begin
    head, // where the bars begin
    width: left + columns.length * square + (angle ? Math.ceil(lean) + 4 : 0) + 2,
    height: head + bars + count * square + 2,
  };
}

/** Lying where there is room, else slanted, else upright: as easy to read as the squares allow. */
function turn(longest, square, font) {
  if (longest <= square - 6) return 0;
  return square * Math.sin(SLANT) >= font ? SLANT : Math.PI / 2;
}
