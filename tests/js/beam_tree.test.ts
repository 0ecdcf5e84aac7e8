import assert from "node:assert/strict";
import { test } from "node:test";
import {
  pathTo, planTree, prefixOf, ROW, sameIn,
} from "../../viz/browser/beam_tree/plan.ts";
import {
  BeamTree, COLUMNS, hypothesisRows, linesOn, stateOf, treeMarks,
} from "../../viz/browser/beam_tree/view.ts";
import { measure, only, plain, theme, treeData, viewOf } from "./samples.ts";
import type { TreeData } from "../../viz/browser/beam_tree/plan.ts";

/** Search with random probabilities: 2 K candidates at each step, K of them kept. */
function searched(K: number, steps: number) {
  let seed = 7;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  const rows: any[][] = [];
  let live = [-1];
  for (let step = 1; step <= steps; step++) {
    const survivors: number[] = [];
    for (let n = 0; n < 2 * K; n++) {
      const parent = live[Math.floor(random() ** 2 * live.length)];
      const ends = n === 0 && step > steps - K;
      const text = ends ? "</s>" : `▁${"x".repeat(1 + Math.floor(random() * 12))}`;
      const state = ends ? "finished" : survivors.length < K ? "kept" : "dropped";
      if (state === "kept") survivors.push(rows.length);
      rows.push([parent, text, Math.log(random()), state, ends ? -random() : undefined]);
    }
    live = survivors;
  }
  const finished = [...rows.keys()].filter((n) => rows[n][4] !== undefined);
  const best = finished.reduce((a, b) => (rows[b][4] > rows[a][4] ? b : a));
  return treeData(rows, { best });
}

//        1        2          3         4      5
// 0 Zwei ─ 2 schwarze ─ 5 Hunde ─ 8 . ─ 10 </s>
//        │            └ 6 Hund ─ 9 !        (kept to the end)
//        └ 3 braune                         (none of its continuations was kept)
// 1 Ein ─ 4 Hund                            (dropped)
//        2 ─ 7 Katzen                       (dropped)
const SMALL = [
  [-1, "▁Zwei", -0.1], [-1, "▁Ein", -1], [0, "▁schwarze", -0.2], [0, "▁braune", -3],
  [1, "▁Hund", -2, "dropped"], [2, "▁Hunde", -0.3], [2, "▁Hund", -1], [2, "▁Katzen", -9, "dropped"],
  [5, ".", -0.1], [6, "!", -0.4], [8, "</s>", -0.1, "finished", -0.5],
];
const small = (more: any = {}) => treeData(SMALL, { best: 10, ...more });
const plan = (data: TreeData, withDropped = false) =>
  planTree(data, withDropped, 1200, measure);

test("no piece and no line runs into another, at beam 4 and 8, 30 and 200 steps", () => {
  for (const [K, count] of [[1, 6], [4, 30], [8, 200]]) {
    for (const withDropped of [false, true]) {
      const data = searched(K, count);
      const made = plan(data, withDropped);
      const { places, steps, columns, width, height, font } = made;
      assert.ok(font >= 11);
      const tallest = Math.max(...steps.map(({ length }) => length));
      assert.ok(tallest <= 2 * K + (withDropped ? 1 : 0), `${tallest} of a step`);
      const shown = places.flatMap((place, n) => (place ? [{ ...place, n }] : []));
      const wanted = data.nodes.filter(({ state }) => withDropped || state !== "dropped").length;
      assert.equal(shown.length, wanted);
      for (const { x, y, width: wide, end, row, n } of shown) {
        const { step, parent, children } = data.nodes[n];
        assert.equal(x, columns[step]); // what was ranked together stands together, in its place
        assert.equal(steps[step][row], n);
        assert.ok(x + wide <= width && y + ROW.height <= height);
        // its line leaves its step, and bends before the next one, where no piece is
        assert.ok(end === x + wide || (end > x && end + 12 <= columns[step + 1]), `${end}`);
        if (children.some((child) => places[child])) assert.ok(end >= x + wide);
        assert.ok((places[parent]?.end ?? 0) < x);
        const hit = viewOf(BeamTree, { plan: made }).hit(x + wide / 2, y + ROW.height / 2);
        assert.equal(hit?.node, n);
      }
      // lines of one step begin and end in the same order, so that none crosses another
      for (const step of steps) {
        const from = step.map((n) => places[data.nodes[n].parent]?.row ?? 0);
        assert.deepEqual(from, [...from].sort((a, b) => a - b));
      }
    }
  }
});

function marksOf(data: TreeData, at: number | null = null) {
  const made = plan(data);
  const visible = { x: 0, y: 0, width: made.width, height: made.height };
  const scene = { data, plan: made, theme, measure, at: at === null ? null : { node: at } };
  const marks = treeMarks(scene, visible);
  return { texts: only(marks, "text"), paths: only(marks, "path") };
}

test("the translation is one straight line at the top, in full ink", () => {
  for (const data of [small(), searched(4, 30)]) {
    const made = plan(data, true);
    const path = pathTo(data, data.best);
    assert.deepEqual(made.steps.slice(1, path.length + 1).map(([first]) => first), path);
  }
  // it need not be the best by its score
  const firsts = plan(small({ best: 9 })).steps.slice(1).map(([first]) => first);
  assert.deepEqual(firsts, [0, 2, 6, 9, 10]);
  const bold = marksOf(small()).texts.filter(({ weight }) => weight === 600);
  assert.deepEqual(bold.map(({ text }) => plain(text)).sort(),
    [".", "Hunde", "Zwei", "schwarze", "−0.50"]);
});

test("keys go to the parent, to the best child, and through the pieces of a step", () => {
  const data = small();
  const walked = (at: number | null, ...keys: string[]) => {
    const from = at === null ? null : { node: at };
    const view = viewOf(BeamTree, { data, plan: plan(data), at: from });
    for (const key of keys) view.at = view.target(key);
    return view.at?.node ?? null;
  };
  assert.equal(walked(null, "ArrowRight"), 0);
  assert.equal(walked(0, "ArrowRight", "ArrowRight", "ArrowRight"), 8);
  assert.equal(walked(8, "ArrowRight", "ArrowRight"), 10); // and stays at the end
  assert.equal(walked(9, "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"), 0);
  assert.equal(walked(5, "ArrowDown"), 6); // its sibling
  assert.equal(walked(6, "ArrowDown"), 6); // the dropped one is not shown
  const withDropped = viewOf(BeamTree, { data, plan: plan(data, true), at: { node: 6 } });
  assert.equal(withDropped.next("ArrowDown"), 7);
  assert.equal(walked(6, "ArrowUp", "ArrowUp"), 5);
  assert.equal(walked(6, "End"), 9);
  assert.equal(walked(9, "Home"), 0);
  assert.equal(walked(5, "Tab"), null);
});

test("a node is told with its probability, its rank and what became of it", () => {
  const data = small();
  assert.deepEqual(linesOn(data, 10).map(plain), [
    "“Zwei schwarze Hunde.”", "log probability up to here −0.8, score −0.5",
    "Finished at step 5, rank 1 of 1.",
  ]);
  assert.equal(stateOf(data, 3),
    "Kept at step 2, rank 3 of 3. None of its continuations was kept.");
  assert.equal(stateOf(data, 4), "Dropped at step 2, rank 2 of 3. It is bad.");
  const forced = treeData([[-1, "▁Ein", -4, "forced"], [0, "▁Hund", -1]], { best: 1 });
  assert.equal(stateOf(forced, 0), "Forced at step 1.");
  assert.equal(stateOf(forced, 1), "Kept at step 2, rank 1 of 1."); // the search ended here
  assert.deepEqual(hypothesisRows(data), [["Zwei schwarze Hunde.", "−0.5", "−0.8", "5"]]);
  assert.deepEqual(COLUMNS, ["Score", "Log probability", "Subwords"]);
  assert.deepEqual(hypothesisRows(forced), [["Ein Hund", "not finished", "−5", "2"]]);
});

test("a prefix is found again in a tree that is made anew", () => {
  const data = small();
  const other = treeData([SMALL[0], [0, "▁weiße", -1], [0, "▁schwarze", -2], [2, "▁Hunde", -1]]);
  assert.equal(sameIn(data, 5, other), 3);
  assert.equal(prefixOf(other, 3), "Zwei schwarze Hunde");
  assert.equal(sameIn(data, 6, other), null);
});
