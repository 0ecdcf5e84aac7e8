// Outlines of the drawing, as SVG writes them.

/** @typedef {import("./lines.js").Point} Point */

const ROUND = 6; // of the lines' corners
const HEAD = { length: 6, half: 3.5 };

/**
 * A line through points with round corners.
 * @param {Point[]} points
 */
export function lineThrough(points) {
  const last = points.length - 1;
  return points.map((point, n) => {
    if (!n) return `M${point}`;
    if (n === last) return `L${point}`;
    return `L${towards(point, points[n - 1])}Q${point} ${towards(point, points[n + 1])}`;
  }).join("");
}

/** Where a corner begins on the way to a neighbour. @param {Point} corner @param {Point} other */
function towards([x, y], other) {
  const [dx, dy] = [other[0] - x, other[1] - y];
  const share = Math.min(ROUND / Math.hypot(dx, dy), 0.5);
  return [x + dx * share, y + dy * share];
}

/** The head of an arrow at the end of a line. @param {Point[]} points */
export function headOf(points) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - fromX, y - fromY);
  const [along, across] = [(x - fromX) / length, (y - fromY) / length];
  /** @param {1 | -1} side */
  const corner = (side) => [
    x - HEAD.length * along - side * HEAD.half * across,
    y - HEAD.length * across + side * HEAD.half * along,
  ];
  return `M${[x, y]}L${corner(1)}L${corner(-1)}Z`;
}

/**
 * A rectangle with round corners.
 * @param {import("./plan.js").Place} place
 * @param {number} radius
 */
export function roundedBox({ x, y, width, height }, radius) {
  const [right, foot] = [x + width, y + height];
  /** @param {number} toX @param {number} toY */
  const corner = (toX, toY) => `A${radius} ${radius} 0 0 1 ${toX} ${toY}`;
  return `M${x + radius} ${y}H${right - radius}${corner(right, y + radius)}`
    + `V${foot - radius}${corner(right - radius, foot)}`
    + `H${x + radius}${corner(x, foot - radius)}V${y + radius}${corner(x + radius, y)}Z`;
}
