// Colours in a form that any program reads: not every one knows `color-mix` of CSS.

// linear red, green and blue to the responses of the eye's cones, as in OKLab (Ottosson 2020)
const TO_CONES = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const FROM_CONES = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
];

/**
 * Mix a colour into another as `color-mix(in oklab, …)` does: OKLab is linear in the cube roots of
 * the cones' responses.
 * @param {string} color `#rrggbb`, like paper
 * @param {string} paper
 * @param {number} share of the first
 */
export function mixed(color, paper, share) {
  const [front, other] = [color, paper].map((hex) =>
    times(TO_CONES, channels(hex).map((value) => toLinear(value / 255))).map(Math.cbrt));
  const mix = front.map((value, n) => (share * value + (1 - share) * other[n]) ** 3);
  const srgb = times(FROM_CONES, mix).map((value) => Math.round(255 * toGamma(value)));
  return `rgb(${srgb.join()})`;
}

/** Read red, green and blue, from 0 to 255. @param {string} color `#rrggbb` */
export const channels = (color) =>
  [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

/** @param {number[][]} matrix @param {number[]} values */
const times = (matrix, values) =>
  matrix.map((row) => row.reduce((sum, factor, n) => sum + factor * values[n], 0));

/** @param {number} value */
const toLinear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** @param {number} value */
const toGamma = (value) =>
  (value <= 0.0031308 ? 12.92 * Math.max(0, value) : 1.055 * value ** (1 / 2.4) - 0.055);
