import assert from "node:assert/strict";
import { test } from "node:test";
import {
  barMarks, heightOf, leftOf, planBars, StepBars, topOf,
} from "../../viz/browser/step_bars.ts";
import { measure, only, plain, theme, viewOf } from "./samples.ts";

const PIECES = [
  [["▁Zwei", 0.75], ["▁Ein", 0.125]], [["▁Hun", 0.25], ["▁Hund", 0.5], ["▁Tiere", 0]], [["de", 1]],
];
const data = {
  title: "t", note: "",
  steps: PIECES.map((step) => step.map(([raw, p]) => ({
    raw: String(raw), label: raw === "▁Tiere" ? "Tiere".repeat(40) : String(raw), p: Number(p),
  }))),
};

test("a choice names the whole prefix, without what was written in its place", () => {
  const choices: any[] = [];
  const options = { onSelect: (choice: any) => choices.push(choice) };
  for (const [step, row] of [[1, 1], [0, 1], [1, 0]]) {
    viewOf(StepBars, { data, options }).pick({ step, row });
  }
  assert.deepEqual(choices, [{ step: 1, alternative: 0, prefix: "▁Zwei▁Hund" },
    { step: 0, alternative: 0, prefix: "▁Ein" }]); // the written piece is not a choice
});

test("all bars have one scale, and each is hit where it stands", () => {
  const plan = planBars(data, measure);
  const marks = barMarks({ data, plan, theme, measure, at: null }, [0, 2]);
  const bars = only(marks, "rect");
  const view = viewOf(StepBars, { data, plan });
  const tracks = bars.filter((_, n) => n % 2 === 0);
  assert.equal(new Set(tracks.map(({ width }) => width)).size, 1);
  assert.deepEqual(bars.filter((_, n) => n % 2).map((bar, n) => bar.width / tracks[n].width),
    [0.75, 0.125, 0.25, 0.5, 0, 1]);
  data.steps.forEach((options, step) => options.forEach((_, row) => {
    const x = leftOf(plan, step) + plan.column / 2;
    assert.deepEqual(view.hit(x, topOf(row) + heightOf(row) / 2), { step, row });
  }));
  assert.equal(view.hit(leftOf(plan, 1) - 1, 20), null); // between two columns
  assert.equal(view.hit(leftOf(plan, 2) + 5, topOf(1) + 5), null); // it has one piece
  for (const { text, size } of only(marks, "text")) {
    assert.ok(measure(text, size, 400) < plan.column, text); // a long piece is cut
  }
});

test("a bar is read out with its step and its place, both from 1", () => {
  assert.equal(plain(viewOf(StepBars, { data }).sentence({ step: 1, row: 1 })),
    "Step 2, alternative 1 of 2: “▁Hund”, probability 0.500");
});

test("arrow keys stay on the bars that there are", () => {
  const to = (at: any, key: string) => 
    viewOf(StepBars, { data, at }).target(key);
  assert.deepEqual(to(null, "ArrowRight"), { step: 0, row: 0 });
  assert.deepEqual(to({ step: 1, row: 2 }, "ArrowRight"), { step: 2, row: 0 });
  assert.deepEqual(to({ step: 1, row: 2 }, "ArrowDown"), { step: 1, row: 2 });
  assert.deepEqual(to({ step: 1, row: 2 }, "ArrowLeft"), { step: 0, row: 1 });
  assert.deepEqual(to({ step: 0, row: 0 }, "End"), { step: 2, row: 0 });
  assert.equal(to({ step: 0, row: 0 }, "a"), null);
});
