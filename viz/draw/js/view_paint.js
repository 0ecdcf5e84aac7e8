// The head view's canvas. All ribbons are drawn once into a picture of their own; those of one
// token are few and drawn afresh at each change.

import { EDGE, isolate, make, number, within } from "./shared.js";
import { laneAt, STEM } from "./view_plan.js";
import { weightOf } from "./view_words.js";

const FADED = 0.45; // of a number whose ribbon is too faint to be drawn

/**
 * The weights that are drawn as ribbons, the largest last and so on top.
 * @returns {{head: number, query: number, key: number, weight: number}[]}
 */
export function ribbonsOf(data, on, token) {
  const { queries, keys } = data;
  const found = [];
  for (const head of on) {
    for (let query = 0; query < queries.length; query++) {
      if (token?.side === "queries" && token.index !== query) continue;
      for (let key = 0; key < keys.length; key++) {
        if (token?.side === "keys" && token.index !== key) continue;
        const weight = weightOf(data, head, query, key);
        if (weight >= data.from) found.push({ head, query, key, weight });
      }
    }
  }
  return found.sort((a, b) => a.weight - b.weight);
}

/** A whole view's ribbons as a picture, to be put on the canvas at each scroll. */
export function ribbonPicture(scene, ratio) {
  const { width, height } = scene.plan;
  const size = { width: Math.ceil(width * ratio), height: Math.ceil(height * ratio) };
  const canvas = make("canvas", size);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  drawRibbons(context, scene, scene.ribbons);
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D|SvgCanvas} context
 * @param {object} scene data, plan, theme, `colors` of the heads, `on` the heads drawn, `ribbons`
 *   drawn, `all` a picture of them or null, `shown` {side, index} whose ribbons they are, `at` the
 *   token under the pointer or cursor, `picked`, and what is scrolled away, `x` and `y`
 */
export function drawView(context, scene) {
  const { all, plan, x, y, height } = scene;
  context.save();
  context.translate(-x, -y);
  if (all) {
    const ratio = all.width / plan.width;
    const high = Math.min(height, plan.height - y);
    context.drawImage(all, 0, y * ratio, all.width, high * ratio, 0, y, plan.width, high);
  } else drawRibbons(context, scene, scene.ribbons);
  words(context, scene, "queries");
  words(context, scene, "keys");
  if (scene.shown) numbers(context, scene);
  marks(context, scene);
  context.restore();
}

function drawRibbons(context, { plan, colors, on, shown }, ribbons) {
  const gap = 4;
  const room = plan.numbers * plan.column;
  const left = plan.left + gap + (shown?.side === "keys" ? room : 0);
  const right = plan.right - gap - (shown?.side === "queries" ? room : 0);
  const middle = (left + right) / 2;
  // a few ribbons can each be strong, thousands must not hide the strong ones in a haze
  const faint = shown ? 0.25 : within(20 / ribbons.length, 0.005, 0.08);
  context.save();
  for (const { head, query, key, weight } of ribbons) {
    const nth = on.indexOf(head);
    const from = laneAt(plan, query, nth, on.length);
    const to = laneAt(plan, key, nth, on.length);
    context.strokeStyle = colors[head];
    context.lineWidth = Math.max(0.75, weight * plan.lane);
    context.globalAlpha = faint + (0.95 - faint) * weight;
    context.beginPath();
    context.moveTo(left, from);
    context.bezierCurveTo(middle, from, middle, to, right, to);
    context.stroke();
  }
  context.restore();
}

function words(context, { data, plan, theme, at, picked, y, height }, side) {
  const onLeft = side === "queries";
  const edge = onLeft ? plan.left - EDGE : plan.right + EDGE;
  context.fillStyle = theme.ink;
  context.textAlign = onLeft ? "right" : "left";
  context.textBaseline = "middle";
  context.direction = "ltr";
  data[side].forEach((token, index) => {
    if ((index + 1) * plan.row < y || index * plan.row > y + height) return;
    const strong = is(at, side, index) || is(picked, side, index);
    context.font = `${strong ? 600 : 400} ${plan.font}px ${theme.font}`;
    context.fillText(isolate(token), edge, (index + 0.5) * plan.row + 0.5);
  });
}

/** The exact weights of the token that is shown, beside each token of the other side. */
function numbers(context, scene) {
  const { data, plan, theme, colors, on, shown, y, height } = scene;
  const toKeys = shown.side === "queries";
  const tokens = toKeys ? data.keys : data.queries;
  context.save();
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.font = `400 ${plan.font}px ${theme.font}`;
  const first = toKeys ? plan.right - plan.numbers * plan.column : plan.left;
  tokens.forEach((_, index) => {
    if ((index + 1) * plan.row < y || index * plan.row > y + height) return;
    const [query, key] = toKeys ? [shown.index, index] : [index, shown.index];
    weightsAt(data, on, query, key, plan.numbers).forEach(({ head, weight }, nth) => {
      context.globalAlpha = weight < data.from ? FADED : 1;
      const right = first + (nth + 1) * plan.column - 2;
      const middle = (index + 0.5) * plan.row;
      const text = weight > 0 && weight < 0.00005 ? "≈ 0" : number(weight);
      // a stroke of the head's colour under its number, which is in ink so that it can be read
      context.fillStyle = theme.ink;
      context.fillText(text, right, middle + 0.5);
      if (on.length < 2 || weight < data.from) return;
      const wide = context.measureText(text).width;
      context.fillStyle = colors[head];
      context.fillRect(right - wide, middle + plan.font / 2, wide, 2);
    });
  });
  context.restore();
}

/** The heads' weights of one pair of tokens, all in order; where there is no room, the largest. */
function weightsAt(data, on, query, key, most) {
  const all = on.map((head) => ({ head, weight: weightOf(data, head, query, key) }));
  return most === all.length ? all : [all.reduce((a, b) => (b.weight > a.weight ? b : a))];
}

/** A stem beside the token that is picked, a frame around the one that is pointed at. */
function marks(context, { plan, theme, at, picked }) {
  context.save();
  context.fillStyle = theme.ink;
  if (picked) {
    const x = picked.side === "queries" ? plan.left - STEM / 2 : plan.right;
    context.fillRect(x, picked.index * plan.row + 3, STEM / 2, plan.row - 6);
  }
  if (at) {
    const [from, to] = at.side === "queries" ? [0, plan.left] : [plan.right, plan.width];
    context.globalAlpha = 0.07;
    context.fillRect(from, at.index * plan.row, to - from, plan.row);
  }
  context.restore();
}

const is = (token, side, index) => token?.side === side && token.index === index;
