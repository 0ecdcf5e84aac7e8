// Marks as a file of SVG, with real words in it. Strings only, so that it needs no page.
//
// Each word carries the width that it was laid out with: a reader without the page's font gets
// other letters, but nothing runs into what stands beside it.

import { tidy } from "./text.ts";
import type { Mark, Picture, Raster, Text } from "./scene.ts";
import type { Measure } from "./theme.ts";

type Attributes = Record<string, string | number>;
type Address = (raster: Raster) => string; // gives a raster as a data: URL

// a picture of more squares, or of smaller ones, stays a picture
const [MOST_RECTS, LEAST_SIDE] = [64 * 64, 2];

// not every program knows dominant-baseline: this part of a letter's size does the same
const HALF_LETTER = 0.34;

interface Tools { address: Address; measure: Measure }

export function svgOf(
  { width, height, marks, font }: { width: number; height: number; marks: Mark[]; font: string },
  tools: Tools,
): string {
  const box = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": font };
  return element("svg", { xmlns: "http://www.w3.org/2000/svg", ...box },
    marks.map((mark) => svgMark(mark, 0, 0, tools)).join(""));
}

function svgMark(mark: Mark, dx: number, dy: number, tools: Tools): string {
  if (mark.type === "group") {
    const [x, y] = [dx + (mark.x ?? 0), dy + (mark.y ?? 0)];
    return mark.marks.map((inner) => svgMark(inner, x, y, tools)).join("");
  }
  if (mark.type === "picture") return svgPicture(mark, dx, dy, tools);
  if (mark.type === "text") return svgText(mark, dx, dy, tools);
  const paint: Attributes = {
    fill: mark.fill ?? "none",
    ...("stroke" in mark && mark.stroke
      ? { stroke: mark.stroke, "stroke-width": tidy(mark.line ?? 1) } : {}),
    ...("dash" in mark && mark.dash ? { "stroke-dasharray": mark.dash.join(" ") } : {}),
    ...("opacity" in mark ? opaque(mark.opacity) : {}),
  };
  if (mark.type === "circle") {
    return element("circle", {
      cx: tidy(mark.x + dx), cy: tidy(mark.y + dy), r: mark.radius, ...paint,
    });
  }
  if (mark.type === "path") {
    const moved: Attributes = dx || dy ? { transform: `translate(${tidy(dx)} ${tidy(dy)})` } : {};
    return element("path", { d: mark.d, ...moved, ...paint });
  }
  if (!mark.stroke && (mark.width <= 0 || mark.height <= 0)) return "";
  return element("rect", {
    x: tidy(mark.x + dx), y: tidy(mark.y + dy), width: mark.width, height: mark.height, ...paint,
  });
}

function svgText(mark: Text, dx: number, dy: number, { measure }: Tools) {
  const weight = mark.weight ?? 400;
  const wide = Math.min(measure(mark.text, mark.size, weight), mark.room ?? Infinity);
  const down = mark.middle ? HALF_LETTER * mark.size : 0;
  const length: Attributes = wide
    ? { textLength: tidy(wide), lengthAdjust: "spacingAndGlyphs" } : {};
  const [x, y] = [tidy(mark.x + dx), tidy(mark.y + dy)];
  const place: Attributes = mark.angle
    ? {
      x: 0, y: tidy(down),
      transform: `translate(${x},${y}) rotate(${tidy((180 * mark.angle) / Math.PI)})`,
    }
    : { x, y: tidy(mark.y + dy + down) };
  return element("text", {
    ...place, "text-anchor": mark.anchor ?? "start", "font-size": mark.size,
    "font-weight": weight, fill: mark.fill, ...opaque(mark.opacity),
    ...length,
  }, escaped(mark.text));
}

/** A few large pixels as squares, more as one picture. */
function svgPicture(
  { raster, x, y, width, height, smooth, title, opacity }: Picture, dx: number, dy: number,
  { address }: Tools,
) {
  const { width: wide, height: high, pixels } = raster;
  const [w, h] = [width / wide, height / high];
  if (wide * high > MOST_RECTS || Math.min(w, h) < LEAST_SIDE) {
    return element("image", {
      x: tidy(x + dx), y: tidy(y + dy), width, height, preserveAspectRatio: "none",
      href: address(raster), ...(smooth ? {} : { style: "image-rendering: pixelated" }),
      ...opaque(opacity),
    }, title ? element("title", {}, escaped(title)) : "");
  }
  const squares = [];
  for (let n = 0; n < wide * high; n++) {
    if (!pixels[4 * n + 3]) continue;
    squares.push(element("rect", {
      x: tidy(x + dx + (n % wide) * w), y: tidy(y + dy + Math.floor(n / wide) * h),
      width: w, height: h, fill: `rgb(${pixels.slice(4 * n, 4 * n + 3).join()})`,
      ...opaque(opacity),
    }));
  }
  return squares.join("");
}

/** @param inside already escaped */
function element(tag: string, attributes: Attributes, inside = "") {
  const words = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return inside ? `<${tag}${words.join("")}>${inside}</${tag}>` : `<${tag}${words.join("")}/>`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A token can hold what no XML file may: control letters and halves of a letter. */
const escaped = (text: string | number) => String(text)
  .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
  .replace(/[&<>"]/g, (letter) => ENTITIES[letter]);

const opaque = (amount = 1): Attributes => (amount < 1 ? { opacity: tidy(amount) } : {});
