// The canvas of the inside of a head: strips of values, numbers and bars.

import { EDGE, isolate, signedPicture } from "./shared.js";
import { LETTERS } from "./inside_plan.js";

const PAST = 0.55; // of what an earlier step has made
const TO_COME = 0.3; // of the name of what a later step will make
const END = 0.99; // the share of values whose sizes the colours tell apart

/** Arrays that share one scale of colour, since they are read against each other. */
const SCALES = [["q"], ["k"], ["products"], ["v", "weighted", "z", "concat"],
  ["x", "result", "others", "added", "normalised"]];

/** The values as one typed array each, by name. */
export function arraysOf({ shapes, weights }) {
  const arrays = {};
  let at = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const length = shape.reduce((a, b) => a * b, 1);
    arrays[name] = weights.subarray(at, at + length);
    at += length;
  }
  return arrays;
}

/** By the name of an array, the size from which on its colour stays. */
export function endsOf(arrays) {
  const ends = {};
  for (const names of SCALES) {
    const sizes = names.map((name) => {
      const all = Float32Array.from(arrays[name], Math.abs).sort();
      return all[Math.ceil(END * all.length) - 1];
    });
    for (const name of names) ends[name] = Math.max(...sizes) || 1;
  }
  return ends;
}

/** @param {object} scene data, arrays, ends, plan, theme, step, at (row and part pointed at) */
export function drawInside(context, scene) {
  const { plan, step } = scene;
  context.textBaseline = "middle";
  if (scene.at) mark(context, scene);
  if (plan.rows) keyLabels(context, scene);
  for (const part of plan.parts) {
    const over = !step || part.step <= step;
    context.globalAlpha = !step || part.step === step ? 1 : over ? PAST : TO_COME;
    names(context, scene, part);
    if (over) contents(context, scene, part);
  }
  context.globalAlpha = 1;
}

function keyLabels(context, { data, plan, theme }) {
  context.globalAlpha = 1;
  context.fillStyle = theme.ink;
  context.textAlign = "right";
  write(context, theme, 400, Math.min(LETTERS, plan.row - 2));
  data.keys.forEach((token, n) => {
    fit(context, isolate(token), plan.left - EDGE, plan.rows.top + (n + 0.5) * plan.row, plan.left);
  });
}

/** Words are squeezed, never cut; the SVG has no squeezing, and its page has no edge there. */
function fit(context, text, x, y, room) {
  if (context.measureText(text).width > room) context.fillText(text, x, y, room);
  else context.fillText(text, x, y);
}

function names(context, { plan, theme, step }, part) {
  context.fillStyle = theme.ink;
  const strong = step && part.step === step ? 600 : 400;
  if (part.heading) {
    write(context, theme, strong, LETTERS);
    context.textAlign = "left";
    context.fillText(part.heading, part.x, part.y - 12);
  }
  if (part.label) {
    write(context, theme, strong, LETTERS);
    context.textAlign = "right";
    const beside = part.x - EDGE;
    fit(context, isolate(part.label), beside, part.y + part.height / 2, Math.max(plan.left, beside));
  }
}

function contents(context, scene, part) {
  const { name } = part;
  if (name === "dots" || name === "scaled") numbers(context, scene, part);
  else if (name === "seen") masks(context, scene, part);
  else if (name === "weights") bars(context, scene, part);
  else if (name === "norms") norms(context, scene, part);
  else strip(context, scene, part);
}

function strip(context, { data, arrays, ends, theme }, part) {
  const values = arrays[part.name];
  const rows = part.rows ? data.keys.length : 1;
  const columns = values.length / rows;
  const colors = data.palette[theme.name];
  const picture = signedPicture(values, columns, rows, colors, ends[part.name]);
  context.imageSmoothingEnabled = columns > part.width * (window.devicePixelRatio || 1);
  context.drawImage(picture, 0, 0, columns, rows, part.x, part.y, part.width, part.height);
  lines(context, { data, arrays, theme }, part, rows);
}

/** Hairlines between rows, and a frame around this head among all. */
function lines(context, { data, arrays, theme }, part, rows) {
  context.fillStyle = theme.paper;
  for (let n = 1; n < rows; n++) {
    context.fillRect(part.x, part.y + (n * part.height) / rows - 0.5, part.width, 1);
  }
  if (part.name !== "concat") return;
  const heads = data.shapes.concat[0];
  for (let n = 1; n < heads; n++) {
    context.fillRect(part.x + (n * part.width) / heads - 1, part.y, 2, part.height);
  }
  context.strokeStyle = theme.ink;
  context.lineWidth = 2;
  const own = part.width / arrays.norms.length;
  context.strokeRect(part.x + data.head * own, part.y, own, part.height);
}

function numbers(context, { data, arrays, plan, theme }, part) {
  context.fillStyle = theme.ink;
  context.textAlign = "right";
  write(context, theme, 400, Math.min(LETTERS, plan.row - 2));
  data.keys.forEach((_, n) => {
    context.fillText(short(arrays[part.name][n]), part.x + 52, middle(plan, n));
  });
}

function masks(context, { data, arrays, plan, theme }, part) {
  context.fillStyle = theme.ink;
  context.textAlign = "right";
  write(context, theme, 400, Math.min(LETTERS, plan.row - 2));
  data.keys.forEach((_, n) => {
    context.fillText(arrays.seen[n] ? "+ 0" : "− ∞", part.x + 28, middle(plan, n));
  });
}

function bars(context, { data, arrays, plan, theme }, part) {
  const numbersRoom = 50;
  const most = part.width - numbersRoom;
  context.textAlign = "left";
  write(context, theme, 400, Math.min(LETTERS, plan.row - 2));
  data.keys.forEach((_, n) => {
    const weight = arrays.weights[n];
    const long = weight * most;
    context.fillStyle = data.color;
    context.fillRect(part.x, part.y + n * plan.row + 2, long, plan.row - 4);
    context.fillStyle = theme.ink;
    context.fillText(share(weight), part.x + long + 5, middle(plan, n));
  });
}

/** A bar under each head's stretch of the strip above: how much it adds. */
function norms(context, { data, arrays, theme }, part) {
  const most = Math.max(...arrays.norms) || 1;
  const wide = part.width / arrays.norms.length;
  context.textAlign = "center";
  arrays.norms.forEach((norm, head) => {
    const high = (norm / most) * (part.height - 16);
    context.fillStyle = head === data.head ? data.color : theme.line;
    context.fillRect(part.x + head * wide + 3, part.y, wide - 6, high);
    context.fillStyle = theme.ink;
    write(context, theme, head === data.head ? 600 : 400, Math.min(12, wide / 3));
    context.fillText(`H${head + 1}  ${norm.toFixed(2)}`, part.x + (head + 0.5) * wide,
      part.y + high + 9);
  });
}

/** The row and the column of the value that is pointed at. */
function mark(context, { plan, theme, at }) {
  context.fillStyle = theme.ink;
  context.globalAlpha = 0.07;
  if (at.part.rows) {
    const y = plan.rows.top + at.row * plan.row;
    context.fillRect(0, y, plan.width, plan.row);
  }
  context.globalAlpha = 1;
}

const middle = (plan, n) => plan.rows.top + (n + 0.5) * plan.row + 0.5;

function write(context, theme, weight, size) {
  context.font = `${weight} ${size}px ${theme.font}`;
}

/** Two decimals with a real minus sign. */
const short = (value) => value.toFixed(Math.abs(value) < 99.995 ? 2 : 0).replace("-", "−");

const share = (weight) =>
  (weight === 0 ? "0" : weight < 0.0005 ? "< 0.001" : weight.toFixed(3));
