// Colours and font of the page around a picture, and the widths of words in that font.

import { channels, mixed } from "./color.ts";
import { make, penOf } from "./dom.ts";

export type ThemeName = "light" | "dark";

export interface Theme {
  name: ThemeName; // which of the colour tables is meant
  paper: string; // as `#rrggbb`, like ink and line
  ink: string;
  line: string;
  quiet: string; // ink of what is less important
  font: string; // the CSS family
}

/** The width of a text in CSS pixels. */
export type Measure = (text: string, size: number, weight: number) => number;

const QUIET = 0.68; // of ink, as in `--hl-quiet` of style.css

const WHITE: Omit<Theme, "font"> = {
  name: "light", paper: "#ffffff", ink: "#1f2123", line: "#dcdcd8",
  quiet: mixed("#1f2123", "#ffffff", QUIET),
};

let pen: CanvasRenderingContext2D | undefined; // one for all pictures: it draws nothing
const widths = new Map<string, number>(); // by font and text: what measures is collected late
const MOST_WIDTHS = 4_000;

function ruler() {
  // other widths, before any picture is drawn with them
  if (!pen) document.fonts?.addEventListener("loadingdone", () => widths.clear(), true);
  return (pen ??= penOf(make("canvas")));
}

/** style.css says which of the page's variables the colours come from. */
export function readTheme(root: Element): Theme {
  // only an element of the page knows which colour `Canvas` or a variable is there
  const probe = make("span", { hidden: "" });
  root.append(probe);
  const color = (name: string) => {
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

export const measureIn = (theme: Theme): Measure => (text, size, weight) => {
  const font = `${weight} ${size}px ${theme.font}`;
  let width = widths.get(font + text);
  if (width === undefined) {
    const context = ruler();
    context.font = font;
    width = context.measureText(text).width;
    if (widths.size >= MOST_WIDTHS) widths.clear();
    widths.set(font + text, width);
  }
  return width;
};

export const onWhite = (theme: Theme): Theme => ({ ...theme, ...WHITE });

export const brightness = ([r, g, b]: number[]) => 0.299 * r + 0.587 * g + 0.114 * b;
