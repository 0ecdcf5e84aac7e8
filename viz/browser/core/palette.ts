// One scale of colour for each kind of attention, even in lightness, and one for differences, as
// viz/draw/palette.py explains and makes them: a test holds both equal.

import {
  type Colors, gamma, inverse, linear, type Palette, times, TO_CONES,
} from "./color.ts";
import { within } from "./text.ts";
import type { ThemeName } from "./theme.ts";
import type { Kind } from "./trace.ts";

export const COLOR: Record<Kind, string> = {
  encoder_self: "#009E73", decoder_self: "#0072B2", cross: "#D55E00",
};

const MORE = {
  light: ["#111A11", "#CC44EE", "#880044", "#AAAAEE", "#0000CC"],
  dark: ["#EEEE66", "#44EEEE", "#EE88CC", "#66CC00", "#CC22EE"],
};
const [LESS, GREATER] = [114, 330].map((degrees) => (degrees * Math.PI) / 180);
const ENDS: Record<ThemeName, [first: number, last: number]> = {
  light: [0.963, 0.36], dark: [0.255, 0.9],
};

const TO_LAB = [
  [0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.8086757660],
];
const [FROM_LAB, FROM_CONES] = [TO_LAB, TO_CONES].map(inverse);

/** Convert OKLCh to sRGB, outside of 0 to 1 where no screen has the colour. */
const srgb = (lightness: number, chroma: number, hue: number) =>
  times(FROM_CONES, times(FROM_LAB, [
    lightness, chroma * Math.cos(hue), chroma * Math.sin(hue),
  ]).map((value) => value ** 3)).map(gamma);

/** Take from chroma what no screen shows, and round to the levels of a screen. */
function shown(lightness: number, wanted: number, hue: number) {
  const fits = (chroma: number) =>
    srgb(lightness, chroma, hue).every((value) => value > -1e-4 && value < 1 + 1e-4);
  let [chroma, high] = [fits(wanted) ? wanted : 0, wanted];
  for (let n = 0; n < 20 && chroma < high; n++) { // bisection
    const middle = (chroma + high) / 2;
    [chroma, high] = fits(middle) ? [middle, high] : [chroma, middle];
  }
  return srgb(lightness, chroma, hue).map((value) => Math.round(255 * within(value, 0, 1)));
}

/** Read a value off a line through three points. */
function between(x: number, [x0, x1, x2]: number[], [y0, y1, y2]: number[]) {
  return x <= x1 ? y0 + ((x - x0) / (x1 - x0)) * (y1 - y0)
    : y1 + ((x - x1) / (x2 - x1)) * (y2 - y1);
}

const tableOf = (colorOf: (level: number) => number[]): Colors =>
  Uint8Array.from(Array.from({ length: 256 }, (_, level) => colorOf(level)).flat());

function table(kind: Kind, theme: ThemeName) {
  const [own, a, b] = times(TO_LAB, times(TO_CONES, linear(COLOR[kind])).map(Math.cbrt));
  const [first, last] = ENDS[theme];
  return tableOf((level) => {
    const share = level / 255;
    const chroma = Math.hypot(a, b)
      * between(share, [0, (own - first) / (last - first), 1], [0.1, 1, 0.67]);
    return shown(first + (last - first) * share, chroma, Math.atan2(b, a));
  });
}

function differenceTable(theme: ThemeName) {
  const [first, last] = ENDS[theme];
  return tableOf((level) => {
    const amount = Math.min(Math.abs(level - 128) / 127, 1);
    const chroma = between(amount, [0, 0.5, 1], [0, 0.15, 0.11]);
    return shown(first + (last - first) * amount, chroma, level < 128 ? LESS : GREATER);
  });
}

const palettes = new Map<Kind | null, Palette>();

/** Get the colours of a kind for both themes. @param kind null for differences */
export function paletteOf(kind: Kind | null): Palette {
  let palette = palettes.get(kind);
  if (!palette) {
    const colors = (theme: ThemeName) => (kind ? table(kind, theme) : differenceTable(theme));
    palettes.set(kind, palette = { light: colors("light"), dark: colors("dark") });
  }
  return palette;
}

/** List eight colours for heads that lie over each other; the first is the kind's own. */
export const headColors = (kind: Kind, theme: ThemeName) => [
  COLOR[kind], ...MORE[theme],
  ...Object.entries(COLOR).filter(([other]) => other !== kind).map(([, color]) => color),
];
