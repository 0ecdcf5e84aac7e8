// The grid as a file to keep: the very picture on the screen, with its words and the outline.

import { drawTile, fontOf, paintGrid, quietInk } from "./grid_paint.js";
import { ident, labelOf } from "./grid_data.js";
import { offer } from "./save.js";
import { shape } from "./shared.js";

const MARGIN = 16; // paper around the grid
const SHARP = 2; // pixels for one of CSS, on any screen
const STROKE = 2.5; // as grid.css draws it around the selected map
const NOTE = 12; // letters, CSS pixels
const FILE = "headlight-heads";

/** @param {{plan: object, theme: object, selected: Array, notes: string[]}} shown the grid */
export function savePng(shown) {
  const scene = withNotes(shown);
  const canvas = document.createElement("canvas");
  const [width, height] = [scene.plan.width, scene.plan.height].map((side) => side + 2 * MARGIN);
  [canvas.width, canvas.height] = [width * SHARP, height * SHARP];
  const context = canvas.getContext("2d");
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  paintGrid(context, scene, SHARP, MARGIN);
  const around = outline(scene);
  context.strokeStyle = scene.theme.ink;
  context.lineWidth = STROKE;
  if (around) context.strokeRect(around.x, around.y, around.width, around.height);
  canvas.toBlob((blob) => offer(blob, `${FILE}.png`));
}

export function saveSvg(shown) {
  const scene = withNotes(shown);
  const { plan, theme } = scene;
  const box = { x: -MARGIN, y: -MARGIN, width: plan.width + 2 * MARGIN,
    height: plan.height + 2 * MARGIN };
  const root = shape("svg", { viewBox: Object.values(box).join(" "), width: box.width,
    height: box.height, "font-family": theme.font });
  root.append(shape("rect", { ...box, fill: theme.paper }));
  const pen = document.createElement("canvas");
  for (const cell of plan.cells) {
    drawTile(pen, cell, theme.name, SHARP);
    const { x, y, wide, high } = cell;
    const image = shape("image", { x, y, width: wide, height: high, href: pen.toDataURL() });
    image.append(shape("title", {}, labelOf(cell)));
    root.append(image);
  }
  root.append(...plan.dots.map(({ x, y, radius, color }) =>
    shape("circle", { cx: x, cy: y, r: radius, fill: color })));
  root.append(...plan.frames.map(({ x, y, wide, high }) =>
    shape("rect", { x, y, width: wide, height: high, fill: "none", stroke: theme.line })));
  root.append(...plan.bars.map(({ x, y, wide, high }) =>
    shape("rect", { x, y, width: wide, height: high, fill: theme.ink })));
  root.append(...plan.texts.map((words) => word(words, theme)));
  const around = outline(scene);
  if (around) root.append(shape("rect", { ...around, fill: "none", stroke: theme.ink,
    "stroke-width": STROKE }));
  const text = new XMLSerializer().serializeToString(root);
  offer(new Blob([text], { type: "image/svg+xml" }), `${FILE}.svg`);
}

/** What the grid says under itself goes into the file, a line for each sentence. */
function withNotes({ plan, theme, selected, notes }) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = fontOf(theme, NOTE);
  const wide = Math.max(plan.width, ...notes.map((text) => Math.ceil(pen.measureText(text).width)));
  const texts = notes.map((text, line) =>
    ({ text, x: 0, y: plan.height + 24 + line * 17, size: NOTE, quiet: true }));
  const height = plan.height + (notes.length && 13 + notes.length * 17);
  const whole = { ...plan, width: wide, height, texts: [...plan.texts, ...texts] };
  return { theme, selected, plan: whole };
}

function word({ text, x, y, align = "start", size, bold, quiet }, theme) {
  const fill = quiet ? quietInk(theme) : theme.ink;
  return shape("text", { x, y, "text-anchor": align, "font-size": size,
    "font-weight": bold ? 600 : 400, fill }, text);
}

/** The rectangle around the selected map, if that is shown. */
function outline({ plan, selected }) {
  const cell = plan.cells.find(({ id }) => id === ident(selected));
  return cell && { x: cell.x - 2.25, y: cell.y - 2.25, width: cell.wide + 4.5,
    height: cell.high + 4.5 };
}
