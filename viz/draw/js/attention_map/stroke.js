// What one press of the pointer paints: squares of one row, told to the page when it is let go.

/**
 * @typedef {object} Stroke
 * @property {number} row
 * @property {number[]} keys in the order in which the pointer came over them
 */

/**
 * The stroke as the pointer comes to a column: nothing between there and the last one is left out.
 * @param {Stroke} stroke
 * @param {number} key
 * @returns {Stroke}
 */
export function extended({ row, keys }, key) {
  const last = keys[keys.length - 1];
  const step = Math.sign(key - last);
  const added = Array.from({ length: Math.abs(key - last) }, (_, n) => last + step * (n + 1));
  return { row, keys: [...new Set([...keys, ...added])] };
}

/**
 * What the page is told: the squares, and the map on which they were pressed.
 * @param {{title: string, queries: string[], keys: string[]}} data
 * @param {Stroke} stroke
 */
export const paintedOf = ({ title, queries, keys }, stroke) =>
  ({ title, queries, keys, squares: stroke.keys.map((key) => [stroke.row, key]) });
