// Where everything of Figure 1 goes: two stacks that grow from the foot up, and the lines between.

import { within } from "./shared.js";

// from the foot up; a list in a row are boxes beside each other, and what follows a sub-layer close
// by is its Add & norm
const STACKS = {
  encoder: ["tokens", ["embedding", "positions"], "sum", "self_attention", "self_attention_norm",
    "feed_forward", "feed_forward_norm"],
  decoder: ["tokens", ["embedding", "positions"], "sum", "self_attention", "self_attention_norm",
    "cross_attention", "cross_attention_norm", "feed_forward", "feed_forward_norm", "linear",
    "softmax"],
};
const SUBLAYERS = ["self_attention", "cross_attention", "feed_forward"];
const FRAME = { first: "self_attention", last: "feed_forward_norm", room: 12, over: 20 };
const GAP = { close: 7, plain: 14, far: 24 };
const ROUND = 6; // of the lines' corners

const NARROW = 560; // of the page; below it a box is two lines high

const MAP = { largest: 40, smallest: 12, apart: 3 }; // small map of a head, CSS pixels
export const INSIDE = 6; // between a box's edge and what stands in it
export const STRIP = 20; // height of a strip

/**
 * @param {number} width of the page's column
 * @param {number} heads of each attention; their maps stand side by side in its box
 * @returns {object} `boxes` by name {x, y, wide, high}, `frames`, `paths`, `width`, `height`, and
 *   whether it is `narrow`
 */
export function plan(width, heads) {
  const narrow = width < NARROW;
  const side = narrow ? 22 : 46; // beside a stack, where its residual lines run
  const between = narrow ? 16 : 56;
  const wide = within(Math.floor((width - 2 * side - between) / 2), 110, 330);
  const inside = wide - 2 * INSIDE - 2;
  const map = {
    side: within((inside - (heads - 1) * MAP.apart) / heads, MAP.smallest, MAP.largest),
    apart: MAP.apart,
  };
  const words = narrow ? 38 : 30; // a box without what is drawn in it
  const high = { words, box: words + STRIP, attention: words + map.side };
  const full = 2 * side + between + 2 * wide;
  const from = Math.max(0, (width - full) / 2);
  const left = { encoder: from + side, decoder: from + side + wide + between };
  const boxes = {};
  const tops = {};
  for (const [stack, rows] of Object.entries(STACKS)) {
    tops[stack] = rise(boxes, stack, rows, left[stack], wide, high);
  }
  const height = Math.ceil(-Math.min(tops.encoder, tops.decoder)) + 2;
  for (const box of Object.values(boxes)) box.y += height;
  const frames = Object.keys(STACKS).map((stack) => frame(boxes, stack, narrow));
  return {
    boxes, frames, paths: paths(boxes, frames, { side, between }), map, inside,
    free: { x: from, wide: wide + side, high: frames[0].y - 30 }, // over the encoder
    narrow, width: Math.max(width, full), height,
  };
}

/** Put a stack's rows over each other; y counts from the foot and is negative. */
function rise(boxes, stack, rows, x, wide, high) {
  let top = -2;
  rows.forEach((row, n) => {
    const names = [row].flat();
    const tall = row === "tokens" ? high.words
      : names[0].endsWith("attention") ? high.attention : high.box;
    if (n) top -= gap(rows[n - 1], row);
    top -= tall;
    const each = (wide - (names.length - 1) * GAP.close) / names.length;
    names.forEach((name, nth) => {
      const box = { x: x + nth * (each + GAP.close), y: top, wide: each, high: tall };
      boxes[`${stack}.${name}`] = box;
    });
  });
  return top - (rows.at(-1) === FRAME.last ? FRAME.over : 0);
}

function gap(below, row) {
  if (SUBLAYERS.includes(below)) return GAP.close;
  if (below === FRAME.last) return FRAME.room + FRAME.over + GAP.close; // the frame, its words, air
  if (row === FRAME.first) return GAP.far + FRAME.room / 2;
  return SUBLAYERS.includes(row) ? GAP.far : GAP.plain;
}

function frame(boxes, stack, narrow) {
  const [first, last] = [boxes[`${stack}.${FRAME.first}`], boxes[`${stack}.${FRAME.last}`]];
  const aside = narrow ? 6 : FRAME.room;
  return {
    stack, x: first.x - aside, y: last.y - FRAME.room, wide: first.wide + 2 * aside,
    high: first.y + first.high - last.y + 2 * FRAME.room + 8,
  };
}

/** All lines, each as points and whether it ends in an arrow head. */
function paths(boxes, frames, { side, between }) {
  const found = [];
  for (const [stack, rows] of Object.entries(STACKS)) {
    const at = (name) => boxes[`${stack}.${name}`];
    rows.slice(1).forEach((row, n) => {
      for (const below of [rows[n]].flat()) {
        for (const name of [row].flat()) {
          // positions come from a formula, not from the tokens
          if (name === "positions") continue;
          found.push(up(at(below), at(name)));
        }
      }
    });
    const outer = stack === "encoder" ? -1 : 1;
    const off = outer * (side < 30 ? 14 : 26);
    for (const name of SUBLAYERS.filter((one) => rows.includes(one))) {
      found.push(around(at(name), at(`${name}_norm`), off));
    }
  }
  found.push(across(boxes, frames[0], between));
  return found;
}

/** From the middle of the smaller box straight up into the other one. */
function up(below, above) {
  const x = below.wide < above.wide ? below.x + below.wide / 2 : above.x + above.wide / 2;
  return { points: [[x, below.y], [x, above.y + above.high]], head: above.y + above.high < below.y };
}

/** The residual: past a sub-layer on the outer side into its Add & norm (§3.1). */
function around(sublayer, norm, off) {
  const edge = off < 0 ? sublayer.x : sublayer.x + sublayer.wide;
  const foot = sublayer.y + sublayer.high + 10;
  const middle = sublayer.x + sublayer.wide / 2;
  const into = norm.y + norm.high / 2;
  return { points: [[middle, foot], [edge + off, foot], [edge + off, into], [edge, into]],
    head: true, residual: true };
}

/** From the top of the encoder into the decoder's cross-attention: its keys and values. */
function across(boxes, { y }, between) {
  const [last, cross] = [boxes["encoder.feed_forward_norm"], boxes["decoder.cross_attention"]];
  const from = last.x + last.wide / 2;
  const middle = last.x + last.wide + between / 2;
  const into = cross.y + cross.high / 2;
  return { points: [[from, last.y], [from, y - 10], [middle, y - 10], [middle, into],
    [cross.x, into]], head: true, memory: true };
}

/** What stands over the frame of a stack. */
export function layerWords({ layer, layers }, narrow) {
  const one = `layer ${layer + 1}`;
  return narrow ? `${one} of ${layers}` : `${layers} × · ${one} is drawn`;
}

/** A path through points with round corners: where it goes, and `by` which corner it bends. */
export function corners(points) {
  const [first, ...rest] = points;
  return [{ to: first }, ...rest.flatMap((to, n) => {
    const after = rest[n + 1];
    if (!after) return [{ to }];
    const cut = (other) => {
      const [dx, dy] = [other[0] - to[0], other[1] - to[1]];
      const share = Math.min(ROUND / Math.hypot(dx, dy), 0.5);
      return [to[0] + dx * share, to[1] + dy * share];
    };
    return [{ to: cut(points[n]) }, { by: to, to: cut(after) }];
  })];
}

/** The same as SVG writes it. */
export const rounded = (points) => corners(points).map(({ to, by }, n) =>
  (by ? `Q${by.join()} ${to.join()}` : `${n ? "L" : "M"}${to.join()}`)).join("");
