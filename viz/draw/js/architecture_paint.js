// The drawing of the model as a picture to take away: boxes, lines and strips on one canvas, where
// the page has buttons over an SVG.

import { pixels } from "./architecture_data.js";
import { corners, INSIDE, layerWords, STRIP } from "./architecture_plan.js";
import { SHARP } from "./save.js";

const ROUND = { frame: 10, box: 5 };
const MEMORY = "#D55E00"; // from the encoder to cross-attention, whose colour it has
const FAINT = { frame: 0.35, residual: 0.32, line: 0.55, box: 0.3, tint: 0.14, words: 0.68 };

/**
 * @param {CanvasRenderingContext2D} context
 * @param {object} scene `data` as `unpackDrawing` gives it, `plan` and `theme`
 */
export function paintArchitecture(context, scene) {
  const { data, plan, theme } = scene;
  plan.frames.forEach((frame) => paintFrame(context, scene, frame));
  for (const { points, residual, memory, head } of plan.paths) {
    context.strokeStyle = context.fillStyle = memory ? MEMORY : theme.ink;
    context.lineWidth = memory ? 2 : 1.5;
    context.globalAlpha = memory ? 1 : residual ? FAINT.residual : FAINT.line;
    trace(context, corners(points));
    context.stroke();
    if (head) paintHead(context, points);
  }
  context.globalAlpha = 1;
  data.boxes.forEach((box) => paintBox(context, scene, box, plan.boxes[box.name]));
}

function paintFrame(context, { data, plan, theme }, { stack, x, y, wide, high }) {
  context.globalAlpha = FAINT.frame;
  context.strokeStyle = context.fillStyle = theme.ink;
  context.lineWidth = 1;
  outline(context, x, y, wide, high, ROUND.frame);
  context.stroke();
  context.globalAlpha = FAINT.words;
  const words = layerWords(data, plan.narrow);
  write(context, theme, words, ...(stack === "encoder" ? [x, "left"] : [x + wide, "right"]), y - 7);
}

/** A triangle at the end of a line. */
function paintHead(context, points) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - fromX, y - fromY);
  const [along, across] = [(x - fromX) / length, (y - fromY) / length];
  const corner = (side) =>
    [x - 6 * along - side * 3.5 * across, y - 6 * across + side * 3.5 * along];
  trace(context, [{ to: [x, y] }, { to: corner(1) }, { to: corner(-1) }, { to: [x, y] }]);
  context.fill();
}

function paintBox(context, { data, plan, theme }, box, { x, y, wide, high }) {
  outline(context, x, y, wide, high, ROUND.box);
  context.fillStyle = theme.paper;
  context.fill();
  if (box.color) {
    context.globalAlpha = FAINT.tint;
    context.fillStyle = box.color;
    context.fill();
  }
  context.globalAlpha = box.color ? 1 : FAINT.box;
  context.strokeStyle = box.color || theme.ink;
  context.lineWidth = 1;
  context.stroke();
  context.globalAlpha = 1;
  const [size, line] = plan.narrow ? [12, 13] : [14, 18];
  const [left, right] = [x + INSIDE, x + wide - INSIDE];
  write(context, theme, box.title, left, "left", y + line, { size, weight: 600 });
  context.globalAlpha = FAINT.words;
  if (plan.narrow) write(context, theme, box.shape, left, "left", y + 2 * line, { size });
  else write(context, theme, box.shape, right, "right", y + line, { size });
  context.globalAlpha = 1;
  const { side, apart } = plan.map;
  const [each, tall] = box.kind ? [side, side] : [wide - 2 * INSIDE - 2, STRIP];
  const colors = data.colors[box.kind ?? "difference"][theme.name];
  for (let map = 0; map < box.maps; map++) {
    const at = [x + INSIDE + 1 + map * (each + apart), y + high - tall - INSIDE];
    context.imageSmoothingEnabled = box.columns > SHARP * each;
    context.drawImage(
      pixels(box, map, colors), 0, 0, box.columns, box.rows, ...at, each, tall,
    );
  }
}

function write(context, theme, text, x, align, y, { size = 13, weight = 400 } = {}) {
  context.font = `${weight} ${size}px ${theme.font}`;
  context.fillStyle = theme.ink;
  context.textAlign = align;
  context.textBaseline = "alphabetic";
  context.fillText(text, x, y);
}

/** A path through points; a corner with `by` is round. */
function trace(context, [first, ...rest]) {
  context.beginPath();
  context.moveTo(...first.to);
  for (const { to, by } of rest) {
    if (by) context.quadraticCurveTo(...by, ...to);
    else context.lineTo(...to);
  }
}

function outline(context, x, y, wide, high, round) {
  const [right, foot] = [x + wide, y + high];
  trace(context, [
    { to: [x + round, y] }, { to: [right - round, y] }, { by: [right, y], to: [right, y + round] },
    { to: [right, foot - round] }, { by: [right, foot], to: [right - round, foot] },
    { to: [x + round, foot] }, { by: [x, foot], to: [x, foot - round] },
    { to: [x, y + round] }, { by: [x, y], to: [x + round, y] },
  ]);
}
