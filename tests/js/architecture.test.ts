import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type ModelPlan, nextBox, planModel } from "../../viz/browser/architecture/plan.ts";
import {
  durationOf, missingShare, momentsOf,
} from "../../viz/browser/architecture/playback.ts";
import { modelMarks } from "../../viz/browser/architecture/view.ts";
import { assertApart, measure, modelData, only, theme } from "./samples.ts";
import type { Place } from "../../viz/browser/core/scene.ts";

const NAMES: string[] = JSON.parse(readFileSync(new URL("boxes.json", import.meta.url), "utf8"));
const DATA = modelData(NAMES);
const WIDTHS = [300, 390, 559, 560, 700, 780, 1600];

const planAt = (width: number, data = DATA, tallest = 2000) =>
  planModel(data.boxes, width, tallest, measure);

test("no two boxes overlap, all lie on the picture, and on whole pixels", () => {
  for (const width of WIDTHS) {
    const plan = planAt(width);
    const boxes = Object.values(plan.boxes);
    assertApart(boxes, plan, String(width));
    for (const box of boxes) assert.ok(Object.values(box).every(Number.isInteger), String(width));
  }
});

test("words and what is drawn stay inside their boxes, with any number of heads", () => {
  for (const width of WIDTHS) {
    for (const [heads, tallest] of [[1, 2000], [8, 2000], [16, 540], [64, 540]]) {
      const data = modelData(NAMES, { heads });
      const plan = planAt(width, data, tallest);
      const marks = modelMarks({ data, plan, theme, ratio: 1 });
      for (const mark of only(marks, "picture")) {
        assert.ok(mark.width > 0 && isInside(mark, plan), `${heads} heads, ${width} px`);
      }
      for (const { text, room, size, weight = 400, anchor, x, y } of only(marks, "text")) {
        if (!room) continue;
        const wide = Math.min(room, measure(text, size, weight));
        const left = anchor === "end" ? x - wide : x;
        assert.ok(isInside({ x: left, y, width: wide, height: 3 }, plan), text);
      }
    }
  }
});

test("a line leads into each box but the foot's, and the memory into cross-attention", () => {
  const { boxes, lines } = planAt(780);
  for (const [name, { x, y, width, height }] of Object.entries(boxes)) {
    const into = lines.filter(({ points }) => {
      const [endX, endY] = points[points.length - 1];
      return endX >= x && endX <= x + width && endY >= y && endY <= y + height;
    });
    const kinds = into.map(({ carries }) => carries).sort();
    if (/tokens$|positions$/.test(name)) assert.deepEqual(kinds, []);
    else if (name.endsWith("_norm")) assert.deepEqual(kinds, ["flow", "residual"]);
    else if (name.endsWith("sum")) assert.deepEqual(kinds, ["flow", "flow"]);
    else if (name === "decoder.cross_attention") assert.deepEqual(kinds, ["flow", "memory"]);
    else assert.deepEqual(kinds, ["flow"], name);
  }
});

test("what passes through layers that are not drawn says which, and leaves no drawn one", () => {
  const layers = { encoder: 6, decoder: 6 };
  for (const width of WIDTHS) {
    for (const [drawn, before, after] of [
      [0, "", "layers 2–6"], [2, "layers 1–2", "layers 4–6"], [4, "layers 1–4", "layer 6"],
      [5, "layers 1–5", ""],
    ] as [number, string, string][]) {
      const layer = { encoder: drawn, decoder: drawn };
      const plan = planModel(DATA.boxes, width, 600, measure, { layer, layers });
      assert.deepEqual(plan.skipped.map(({ text }) => text),
        [before, after, before, after].filter(Boolean));
      const [memory] = plan.lines.filter(({ carries }) => carries === "memory");
      const norm = plan.boxes["encoder.feed_forward_norm"];
      const top = plan.frames[0].y;
      assert.equal(memory.points[0][1], after ? top - 13 : norm.y);
      for (const { text, x, y, anchor } of plan.skipped) {
        const wide = measure(text, 11, 400);
        const left = anchor === "start" ? x + 8 : x - 8 - wide;
        const place = { x: left, y, width: wide, height: 10 };
        assert.ok(Object.values(plan.boxes).every((box) => !meet(place, box)), `${width} ${text}`);
      }
    }
  }
});

const meet = (a: Place, b: Place) => a.x < b.x + b.width && b.x < a.x + a.width
  && a.y < b.y + b.height && b.y < a.y + a.height;

test("arrow keys lead to every box, from every box", () => {
  const keys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
  for (const width of WIDTHS) {
    const { boxes } = planAt(width);
    for (const start of NAMES) {
      const reached = new Set([start]);
      for (const from of reached) { // grows while it is read
        for (const key of keys) {
          const to = nextBox(boxes, from, key);
          if (to) reached.add(to);
        }
      }
      assert.equal(reached.size, NAMES.length, `from ${start} at ${width} px`);
    }
  }
});

test("the boxes light from the foot up: the encoder's once, the decoder's for each subword", () => {
  const moments = momentsOf(DATA.boxes);
  const [encoder, decoder] = [NAMES.slice(0, 8), NAMES.slice(8)];
  assert.deepEqual(moments.map(({ box }) => box), [...encoder, ...decoder, ...decoder, ...decoder]);
  assert.deepEqual(moments.map(({ word }) => word),
    [...Array(8).fill(-1), ...Array(12).fill(0), ...Array(12).fill(1), ...Array(12).fill(2)]);
  // each row of the decoder is uncovered as its subword passes, the encoder's all at once
  const left = (name: string, at: number) =>
    missingShare(name, NAMES, moments[at] ?? null, 4);
  assert.deepEqual([0, 4, 7, 8].map((at) => left("encoder.self_attention", at)), [1, 0, 0, 0]);
  assert.deepEqual([7, 11, 12, 19, 23, 24, 43, 44].map((at) => left("decoder.self_attention", at)),
    [1, 1, 0.75, 0.75, 0.75, 0.5, 0.25, 0]);
  // a later subword passes in less time than one box of the first
  const times = moments.map(durationOf);
  assert.ok(times.slice(20, 31).reduce((sum, time) => sum + time, 0) < times[8]);
});

const isInside = ({ x, y, width, height }: Place, { boxes }: ModelPlan) =>
  Object.values(boxes).some((box) =>
    x >= box.x && x + width <= box.x + box.width + 1e-9
      && y >= box.y && y + height <= box.y + box.height + 1e-9);

test("below the first steps, a screen of 720 px has the box that lights first", () => {
  assert.ok(planModel(DATA.boxes, 1200, 470, measure).height <= 470);
});
