// A picture to take away, as PNG or SVG: the whole drawing, what is scrolled out of sight too, with
// its title, the words on its axes and its legend.

import { make } from "./shared.js";
import { SvgCanvas } from "./svg_canvas.js";

export const SHARP = 2; // pixels for each unit of the drawing
const MOST_PIXELS = 64e6; // a map of 512 words is as sharp as a browser's canvas can hold
const MARGIN = 16;
const LINE = 21;

/**
 * Two quiet buttons.
 * @param {() => object} sheet what is to be saved: `title`, `lines` of text, the drawing's `width`,
 *   `height` and `draw(context)`, `note`, `legend` as texts and `{width, draw(context)}`, `theme`,
 *   and `name` of the file
 */
export function saveButtons(sheet) {
  const button = (format, save) => {
    const node = make("button", { type: "button", "aria-label": `Save as ${format}` }, format);
    node.addEventListener("click", () => save(sheet()));
    return node;
  };
  return make("span", { class: "hl-save" }, button("PNG", savePng), button("SVG", saveSvg));
}

function saveSvg(sheet) {
  const [width, height] = arrange(sheet);
  const context = new SvgCanvas(width, height);
  drawSheet(context, sheet, width, height);
  offer(new Blob([context.text()], { type: "image/svg+xml" }), `${slug(sheet.name)}.svg`);
}

function savePng(sheet) {
  const [width, height] = arrange(sheet);
  const sharp = Math.min(SHARP, Math.sqrt(MOST_PIXELS / (width * height)));
  const size = { width: Math.ceil(width * sharp), height: Math.ceil(height * sharp) };
  const canvas = make("canvas", size);
  const context = canvas.getContext("2d");
  context.scale(sharp, sharp);
  drawSheet(context, sheet, width, height);
  canvas.toBlob((blob) => offer(blob, `${slug(sheet.name)}.png`), "image/png");
}

export function offer(blob, download) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser may read it a little later
}

/** `L3 H5 · cross` is saved as `headlight-l3-h5-cross`. */
function slug(name) {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return ["headlight", ...words].join("-").slice(0, 80);
}

/** Width and height of a sheet; puts the items of its foot in their places. */
function arrange(sheet) {
  const context = make("canvas").getContext("2d");
  const measure = (text, weight = 400, size = 14) => {
    context.font = `${weight} ${size}px ${sheet.theme.font}`;
    return Math.ceil(context.measureText(text).width);
  };
  const wide = Math.max(
    sheet.width, measure(sheet.title, 600, 16), measure(sheet.note),
    ...sheet.lines.map((line) => measure(line)),
  );
  let [x, y] = [0, sheet.note ? LINE : 0];
  sheet.placed = sheet.note ? [[sheet.note, 0, 0]] : [];
  for (const item of sheet.legend) {
    const width = item.width ?? measure(item);
    if (x && x + width > wide) [x, y] = [0, y + LINE];
    sheet.placed.push([item, x, y]);
    x += width + (item.gap ?? 9);
  }
  sheet.head = MARGIN + LINE * (1 + sheet.lines.length) + 10;
  sheet.foot = sheet.head + sheet.height + 10;
  return [Math.ceil(wide + 2 * MARGIN), Math.ceil(sheet.foot + y + LINE + MARGIN)];
}

function drawSheet(context, sheet, width, height) {
  const { theme } = sheet;
  const write = (text, y, font, x = MARGIN) => {
    context.font = `${font} ${theme.font}`;
    context.fillStyle = theme.ink;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText(text, x, y);
  };
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, width, height);
  write(sheet.title, MARGIN + 14, "600 16px");
  sheet.lines.forEach((line, n) => write(line, MARGIN + 14 + LINE * (n + 1), "400 14px"));
  shifted(context, MARGIN, sheet.head, () => sheet.draw(context));
  for (const [item, x, y] of sheet.placed) {
    if (typeof item === "string") write(item, sheet.foot + y + 14, "400 14px", MARGIN + x);
    else shifted(context, MARGIN + x, sheet.foot + y + 4, () => item.draw(context));
  }
}

function shifted(context, x, y, draw) {
  context.save();
  context.translate(x, y);
  draw();
  context.restore();
}
