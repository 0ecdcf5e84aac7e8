// The boxes of Figure 1 with the values that flow through them, and their layout: two stacks that
// grow from the foot up, and the lines between.

import { ARROWS, nearest } from "../core/dom.ts";
import { within } from "../core/text.ts";
import type { Kind } from "../attention_map/plan.ts";
import type { Palette } from "../core/color.ts";
import type { Place } from "../core/scene.ts";
import type { Measure } from "../core/theme.ts";

export interface ModelBox {
  name: string; // by which the plan knows its place
  title: string;
  shape: string; // of what leaves it, in words
  label: string; // for a screen reader
  kind: Kind | null; // of the attention
  color: string | null; // of that kind
  maps: number; // one for each head, or a single strip; 0 where nothing is drawn
  rows: number;
  columns: number;
  sentences: string[]; // what it does: one in the encoder, in the decoder one a subword
  paper: string; // sections
  values: Uint8Array; // `[map, row, column]`, places in the palette; empty where maps is 0
}

export interface ModelData { // the message of `encode_architecture` in viz/draw/architecture.py
  layers: Record<string, number>; // of each stack
  layer: Record<string, number>; // of each stack that is drawn, from 0
  selected: string; // name of the open box
  memoryColor: string; // of the line from the encoder to cross-attention
  boxes: ModelBox[];
  palettes: Record<"difference" | Kind, Palette>;
  playing: Playing | null; // null where there is nothing to play
}

interface Playing {
  source: string[]; // tokens
  read: string[]; // tokens of the decoder at its last step
  steps: { options: { label: string; p: number }[]; taken: number }[]; // of the decoder
  last: string; // sentence, when all is written
  starts: boolean; // by itself
}

/** `frames` are around the layer of each stack; `map` is a head's; `free` is over the encoder. */
export type ModelPlan = ReturnType<typeof planWith>;

const FRAME = { first: "self_attention", last: "feed_forward_norm", room: 12 };

type Drawn = Pick<ModelData, "layer" | "layers">;
const FIRST_LAYER: Drawn = {
  layer: { encoder: 0, decoder: 0 }, layers: { encoder: 1, decoder: 1 },
};

const NARROW = 560; // of the page; below it everything is closer
const BOX = { smallest: 110, largest: 330 };
const MAP = { apart: 3, share: 0.25 }; // of a head; at most this share stays empty
const BETWEEN_WORDS = 7; // least room between the two words of a box

const ONE_LINE = { // sizes, in CSS pixels
  side: 46, // room beside a stack, where its residual lines run
  between: 56, // the two stacks
  aside: 12, // from a layer's boxes to its frame
  residual: 26, // from a box to its residual line
  letters: 14, // size of the words in a box
  feet: [18, 18], // of title and shape, from the top of a box; of the title alone where low
  strip: 25, // from the top of a box to what is drawn in it
  words: 30, // height of a box with nothing drawn in it
  high: 20, // height of a strip
  map: 40, // largest side of a head's map
  gaps: { close: 7, plain: 14, far: 24 }, // between boxes
  over: 20, // a layer's frame, for the words there
};
type Layout = typeof ONE_LINE;
/** title over shape, where there is no room beside it */
const TWO_LINES: Layout = { ...ONE_LINE, feet: [18, 36], strip: 43, words: 48 };
/** without shapes, to be in sight whole on a phone */
const SMALL: Layout = {
  side: 22, between: 16, aside: 6, residual: 14, letters: 11, feet: [14], strip: 17, words: 20,
  high: 7, map: 20, gaps: { close: 3, plain: 6, far: 13 }, over: 16,
};
/** closer, to be in sight whole on a low screen */
const LOW: Layout = {
  ...ONE_LINE, letters: 13, feet: [15, 15], strip: 19, words: 21,
  map: 28, gaps: { close: 4, plain: 6, far: 13 }, over: 16,
};
const STRIPS = [20, 16, 12, 8]; // heights that a low layout tries

export const INSIDE = 7; // between a box's edge and what stands in it

export function planModel(
  boxes: Pick<ModelBox, "name" | "title" | "shape" | "maps">[], width: number, tallest: number,
  measure: Measure, drawn: Drawn = FIRST_LAYER,
) {
  const heads = Math.max(1, ...boxes.map(({ maps }) => maps));
  const planned = (layout: Layout) => planWith(layout, heads, width, drawn);
  if (width < NARROW) return planned(SMALL);
  const holdsWords = ({ boxes: places, layout: { letters } }: ModelPlan) =>
    boxes.every(({ name, title, shape }) =>
      measure(title, letters, 600) + BETWEEN_WORDS + measure(shape, letters, 400)
        <= places[name].width - 2 * INSIDE);
  const plan = planned(ONE_LINE);
  if (!holdsWords(plan)) return planned(TWO_LINES);
  if (plan.height <= tallest) return plan;
  const low = STRIPS.map((high) => planned({ ...LOW, high }));
  return low.find(({ height }) => height <= tallest) ?? low[low.length - 1];
}

function planWith(layout: Layout, heads: number, width: number, drawn: Drawn) {
  const { side, between, words } = layout;
  const wide = within(Math.floor((width - 2 * side - between) / 2), BOX.smallest, BOX.largest);
  // the maps of all heads fill a box, up to the largest side
  const inside = wide - 2 * INSIDE;
  const apart = Math.min(MAP.apart, (MAP.share * inside) / heads);
  const map = { apart, side: Math.min(layout.map, (inside - (heads - 1) * apart) / heads) };
  const heights = { words, box: words + layout.high, attention: words + Math.ceil(map.side) };
  const full = 2 * side + between + 2 * wide;
  const from = Math.max(0, Math.round((width - full) / 2));
  const boxes: Record<string, Place> = {};
  const tops = Object.entries(STACKS).map(([stack, rows]) => {
    const x = from + side + (stack === "encoder" ? 0 : wide + between);
    return rise(boxes, stack, rows, x, wide, heights, layout);
  });
  const height = 2 - Math.min(...tops); // both stacks stand on one line
  for (const box of Object.values(boxes)) box.y += height;
  const frames = Object.keys(STACKS).map((stack) => {
    const [first, last] = [boxes[`${stack}.${FRAME.first}`], boxes[`${stack}.${FRAME.last}`]];
    return {
      stack, x: first.x - layout.aside, y: last.y - FRAME.room,
      width: first.width + 2 * layout.aside,
      height: first.y + first.height - last.y + 2 * FRAME.room + 8,
    };
  });
  return {
    boxes, frames, lines: linesOf(boxes, frames[0], layout, drawn), map, layout,
    skipped: frames.flatMap((frame) => skippedOf(boxes, frame, drawn)),
    free: { x: from, width: wide + side, foot: frames[0].y - layout.over },
    narrow: layout === SMALL,
    width: Math.max(width, full), height,
  };
}

/** Put a stack's rows over each other; y counts from the foot and is negative.
 * @returns y of the top */
function rise(
  boxes: Record<string, Place>, stack: string, rows: (string | string[])[], x: number,
  width: number, heights: { words: number; box: number; attention: number }, { gaps, over }: Layout,
): number {
  let top = -2;
  rows.forEach((row, n) => {
    const names = [row].flat();
    const height = row === "tokens" ? heights.words
      : names[0].endsWith("attention") ? heights.attention : heights.box;
    if (n) top -= gap(rows[n - 1], row, gaps, over);
    top -= height;
    const share = (width - (names.length - 1) * gaps.close) / names.length;
    names.forEach((name, nth) => {
      const left = Math.round(x + nth * (share + gaps.close));
      const right = Math.round(x + nth * (share + gaps.close) + share);
      boxes[`${stack}.${name}`] = { x: left, y: top, width: right - left, height };
    });
  });
  return top - (rows.at(-1) === FRAME.last ? over : 0);
}

function gap(below: string | string[], row: string | string[], gaps: Layout["gaps"], over: number) {
  if (SUBLAYERS.includes(String(below))) return gaps.close;
  if (below === FRAME.last) return FRAME.room + over + gaps.close; // the frame, its words, air
  if (row === FRAME.first) return gaps.far + FRAME.room / 2;
  return SUBLAYERS.includes(String(row)) ? gaps.far : gaps.plain;
}

export function nextBox(boxes: Record<string, Place>, name: string, pressed: string) {
  const next = nearest(Object.values(boxes), boxes[name], ARROWS[pressed] ?? [0, 0], 0.5);
  return Object.keys(boxes).find((other) => boxes[other] === next) ?? null;
}

/** The rows of each stack. A list in a row are boxes beside each other; after a sub-layer comes its
 * Add & norm. `BOXES` in viz/pages/architecture/boxes.py says what the boxes are. */
const STACKS: Record<string, (string | string[])[]> = {
  encoder: ["tokens", ["embedding", "positions"], "sum", "self_attention", "self_attention_norm",
    "feed_forward", "feed_forward_norm"],
  decoder: ["tokens", ["embedding", "positions"], "sum", "self_attention", "self_attention_norm",
    "cross_attention", "cross_attention_norm", "feed_forward", "feed_forward_norm", "linear",
    "softmax"],
};

const SUBLAYERS = ["self_attention", "cross_attention", "feed_forward"];

export type Point = [x: number, y: number];

interface Line { points: Point[]; carries: "flow" | "residual" | "memory"; arrow: boolean }

/** Layers through which a line runs unseen: a gap in it, and their numbers right or left of it. */
interface Skipped { text: string; x: number; y: number; anchor: "start" | "end" }

function skippedOf(
  boxes: Record<string, Place>, { stack, y }: Place & { stack: string }, drawn: Drawn,
): Skipped[] {
  const [layer, layers] = [drawn.layer[stack], drawn.layers[stack]];
  const first = boxes[`${stack}.${FRAME.first}`];
  const middle = first.x + first.width / 2;
  // away from residuals and from the frame's words
  const anchor = stack === "encoder" ? "start" : "end";
  const skip = (from: number, to: number, top: number): Skipped =>
    ({ text: from === to ? `layer ${from}` : `layers ${from}–${to}`, x: middle, y: top, anchor });
  return [
    ...(layer > 0 ? [skip(1, layer, first.y + first.height + 9)] : []),
    ...(layer < layers - 1 ? [skip(layer + 2, layers, y - SKIP - 3)] : []),
  ];
}

export const SKIP = 10; // height of the gap of a line

function linesOf(
  boxes: Record<string, Place>, encoder: Place, layout: Layout, { layer, layers }: Drawn,
): Line[] {
  const lines = Object.entries(STACKS).flatMap(([stack, rows]) => {
    const at = (name: string) => boxes[`${stack}.${name}`];
    const off = stack === "encoder" ? -layout.residual : layout.residual;
    const ups = rows.slice(1).flatMap((row, n) => [rows[n]].flat().flatMap((below) =>
      // positions come from a formula, not from the tokens
      [row].flat().filter((name) => name !== "positions").map((name) => up(at(below), at(name)))));
    const residuals = SUBLAYERS.filter((name) => rows.includes(name)).map((name) =>
      around(at(name), at(`${name}_norm`), off));
    return [...ups, ...residuals];
  });
  const isLast = layer.encoder === layers.encoder - 1;
  return [...lines, ...across(boxes, encoder, layout.between, isLast)];
}

function up(below: Place, above: Place): Line {
  const smaller = below.width < above.width ? below : above;
  const x = smaller.x + smaller.width / 2;
  const foot = above.y + above.height;
  return { points: [[x, below.y], [x, foot]], carries: "flow", arrow: foot < below.y };
}

/** Draw a residual: past a sub-layer on the outer side into its Add & norm (§3.1). */
function around(sublayer: Place, norm: Place, off: number): Line {
  const edge = off < 0 ? sublayer.x : sublayer.x + sublayer.width;
  const foot = sublayer.y + sublayer.height + 10;
  const middle = sublayer.x + sublayer.width / 2;
  const into = norm.y + norm.height / 2;
  return {
    points: [[middle, foot], [edge + off, foot], [edge + off, into], [edge, into]],
    carries: "residual", arrow: true,
  };
}

/** Draw the keys and values: from the top of the encoder's last layer into cross-attention.
 * @param isLast whether that layer is drawn; else the line begins above the drawn one */
function across(
  boxes: Record<string, Place>, { y }: Place, between: number, isLast: boolean,
): Line[] {
  const [norm, cross] = [boxes["encoder.feed_forward_norm"], boxes["decoder.cross_attention"]];
  const from = norm.x + norm.width / 2;
  const middle = norm.x + norm.width + between / 2;
  const into = cross.y + cross.height / 2;
  const above = y - (isLast ? 10 : 2 * SKIP);
  const memory: Line = {
    points: [
      [from, isLast ? norm.y : y - SKIP - 3], [from, above], [middle, above], [middle, into],
      [cross.x, into],
    ],
    carries: "memory", arrow: true,
  };
  const on: Line = { points: [[from, norm.y], [from, y - 3]], carries: "flow", arrow: false };
  return isLast ? [memory] : [on, memory];
}
