// Colours and font of the page around a picture, and the widths of words in that font.

import { channels, mixed } from "./color.ts";
import { make, penOf } from "./dom.ts";

/** @typedef {"light" | "dark"} ThemeName */

/**
 * @typedef {object} Theme
 * @property {ThemeName} name which of the colour tables is meant
 * @property {string} paper as `#rrggbb`, like ink and line
 * @property {string} ink
 * @property {string} line
 * @property {string} quiet ink of what is less important
 * @property {string} font the CSS family
 */

/**
 * The width of a text in CSS pixels.
 * @typedef {(text: string, size: number, weight: number) => number} Measure
 */

const QUIET = 0.68; // of ink, as in `--hl-quiet` of style.css

/** @type {Omit<Theme, "font">} */
const WHITE = {
  name: "light", paper: "#ffffff", ink: "#1f2123", line: "#dcdcd8",
  quiet: mixed("#1f2123", "#ffffff", QUIET),
};

/** @type {CanvasRenderingContext2D | undefined} */
let pen; // one for all pictures: it draws nothing
const ruler = () => (pen ??= penOf(make("canvas")));

/** style.css says which of the page's variables the colours come from.
 * @param {Element} root @returns {Theme} */
export function readTheme(root) {
  // only an element of the page knows which colour `Canvas` or a variable is there
  const probe = make("span", { hidden: "" });
  root.append(probe);
  /** @param {string} name */
  const color = (name) => {
    probe.style.color = `var(${name})`;
    const context = ruler();
    context.fillStyle = getComputedStyle(probe).color;
    return String(context.fillStyle); // the canvas writes any opaque CSS colour as #rrggbb
  };
  const [paper, ink, line] = [color("--hl-paper"), color("--hl-ink"), color("--hl-line")];
  probe.remove();
  return {
    paper, ink, line, quiet: mixed(ink, paper, QUIET), font: getComputedStyle(root).fontFamily,
    name: brightness(channels(paper)) < 128 ? "dark" : "light",
  };
}

/** @param {Theme} theme @returns {Measure} */
export const measureIn = (theme) => (text, size, weight) => {
  const context = ruler();
  context.font = `${weight} ${size}px ${theme.font}`;
  return context.measureText(text).width;
};

/** Change a theme to white paper, as a page in print has it.
 * @param {Theme} theme @returns {Theme} */
export const onWhite = (theme) => ({ ...theme, ...WHITE });

/** Compute the brightness, from 0 to 255 as red, green and blue are. @param {number[]} color */
export const brightness = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b;
