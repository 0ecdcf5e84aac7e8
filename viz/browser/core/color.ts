// Colours in a form that any program reads, values as pixels of a table of 256 colours, and the
// scale from a weight to its colour with its legend.

import { paint, sized } from "./canvas.ts";
import { make } from "./dom.ts";
import { type Raster, rect, type Sample } from "./scene.ts";
import { within } from "./text.ts";

// linear red, green and blue to the responses of the eye's cones, as in OKLab (Ottosson 2020)
export const TO_CONES = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];

/** Mix a colour into another as `color-mix(in oklab, …)` does: OKLab is linear in the cube roots of
 * the cones' responses.
 * @param color `#rrggbb`, like paper */
export function mixed(color: string, paper: string, share: number) {
  const [front, other] = [color, paper].map((hex) => times(TO_CONES, linear(hex)).map(Math.cbrt));
  const mix = front.map((value, n) => (share * value + (1 - share) * other[n]) ** 3);
  const srgb = times(FROM_CONES, mix).map((value) => Math.round(255 * Math.max(0, gamma(value))));
  return `rgb(${srgb.join()})`;
}

export const channels = (color: string) =>
  [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

export const times = (matrix: number[][], values: number[]) =>
  matrix.map((row) => row.reduce((sum, factor, n) => sum + factor * values[n], 0));

/** Invert three rows of three: the columns are cross products of the rows, over the determinant. */
export function inverse([a, b, c]: number[][]) {
  const cross = ([x, y, z]: number[], [u, v, w]: number[]) =>
    [y * w - z * v, z * u - x * w, x * v - y * u];
  const columns = [cross(b, c), cross(c, a), cross(a, b)];
  const [determinant] = times([a], columns[0]);
  return [0, 1, 2].map((row) => columns.map((column) => column[row] / determinant));
}

const FROM_CONES = inverse(TO_CONES);

/** Convert `#rrggbb` to linear red, green and blue. */
export const linear = (color: string) => channels(color).map((value) => value / 255).map((value) =>
  (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));

export const gamma = (value: number) =>
  (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);

export type Colors = Uint8Array;
export interface Palette { light: Colors; dark: Colors }

/** One pixel a value, transparent where there is none.
 * @param level the place of value n in the table; -1 for nothing */
export function rasterOf(
  width: number, height: number, colors: Colors, level: (n: number) => number,
): Raster {
  const raster = blank(width, height);
  for (let n = 0; n < width * height; n++) {
    const place = level(n);
    if (place >= 0) setPixel(raster.pixels, 4 * n, colors, place);
  }
  return raster;
}

/** @param room taken for the pixels, where there is enough of it */
export function blank(width: number, height: number, room?: ArrayBuffer) {
  const count = 4 * width * height;
  const isRoom = room && count <= room.byteLength;
  const pixels = isRoom ? new Uint8ClampedArray(room, 0, count) : new Uint8ClampedArray(count);
  return { width, height, pixels: isRoom ? pixels.fill(0) : pixels };
}

/** Draw values below and above 0, a pixel each, none for −∞; from ±`end` on the colour stays. */
export const signedRaster = (
  values: ArrayLike<number>, width: number, height: number, colors: Colors, end: number,
) =>
  rasterOf(width, height, colors, (n) =>
    (values[n] === -Infinity ? -1 : 128 + Math.round(127 * within(values[n] / end, -1, 1))));

/** @param opacity of 255 */
export function setPixel(
  pixels: Uint8ClampedArray, at: number, colors: Colors, level: number, opacity = 255,
) {
  pixels[at] = colors[3 * level];
  pixels[at + 1] = colors[3 * level + 1];
  pixels[at + 2] = colors[3 * level + 2];
  pixels[at + 3] = opacity;
}

export const cssColor = (colors: Colors, level: number) =>
  `rgb(${colors.slice(3 * level, 3 * level + 3).join()})`;

const WIDE = 112; // of the legend's bar, CSS pixels, in steps of two
const HIGH = 10;

type ScaleName = "linear" | "square root" | "by row";

export interface Scaling {
  scale: ScaleName;
  threshold: number; // weights of less are not drawn
  signed: boolean; // they are differences of two weights
  amount?: string; // what one is, in a word
}

// the curve is of a weight, and its row's largest; `most` stands at the end of the bar
const SCALES: Record<ScaleName, {
  curve: (weight: number, largest: number) => number; most: string; says: string;
}> = {
  linear: { curve: (weight) => weight, most: "1", says: "" },
  "square root": {
    curve: (weight) => Math.sign(weight) * Math.sqrt(Math.abs(weight)), most: "1", says: "√ scale",
  },
  "by row": {
    curve: (weight, largest) => (largest ? weight / largest : 0),
    most: "max", says: "each row by its largest",
  },
};

interface Scaled extends Scaling { weights: Float32Array; queries: string[]; keys: string[] }

export function leveller({ weights, queries, keys, scale, signed }: Scaled) {
  const { curve } = SCALES[scale];
  const largest = new Float32Array(queries.length);
  weights.forEach((weight, n) => {
    const row = Math.floor(n / keys.length);
    largest[row] = Math.max(largest[row], Math.abs(weight));
  });
  return (weight: number, row: number) => {
    const amount = within(curve(weight, largest[row]), -1, 1);
    return signed ? 128 + Math.round(127 * amount) : Math.round(255 * Math.max(0, amount));
  };
}

/** Test whether causal attention hides a square (§3.2.3). A weight there would be shown. */
export const hidden = (causal: boolean, query: number, key: number, weight: number) =>
  causal && key > query && weight === 0;

export function legend(
  { scale, threshold, signed, amount = "weight" }: Scaling, colors: Colors,
): (string | Sample)[] {
  const { most, says } = SCALES[scale];
  const bar = (from: number, to: number, width: number) => ({
    width,
    marks: Array.from({ length: width / 2 }, (_, n) => rect({
      x: 2 * n, y: 0, width: 2, height: HIGH,
      fill: cssColor(colors, Math.round(from + ((to - from) * 2 * n) / (width - 2))),
    })),
  });
  const scaled = signed
    ? [`difference −${most}`, bar(1, 128, WIDE / 2), "0", bar(128, 255, WIDE / 2), `+${most}`]
    : [`${amount} 0`, bar(0, 255, WIDE), most];
  const drawn = threshold > 0 ? `below ${Number(threshold.toPrecision(3))} not drawn` : "";
  const more = [says, drawn].filter(Boolean).join(" · ");
  return more ? [...scaled, `\u2002${more}`] : scaled; // a little apart
}

export const legendNodes = (scaling: Scaling, colors: Colors) =>
  legend(scaling, colors).map((item) => {
    if (typeof item === "string") return make("span", {}, item);
    const canvas = make("canvas", { "aria-hidden": "true" });
    paint(sized(canvas, item.width, HIGH), item.marks, ""); // no words
    return canvas;
  });
