import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenTogether, placed, planLinks } from "../../viz/browser/word_links/plan.ts";
import { mapText } from "../../viz/browser/word_links/from_trace.ts";
import {
  linkMarks, pairRows, SHARES, WordLinks,
} from "../../viz/browser/word_links/view.ts";
import { assertApart, linkData, measure, only, theme, viewOf } from "./samples.ts";

const SIDES = ["source", "target"] as const;
const diagonal = (count: number) => Array.from({ length: count }, (_, n) => [n, n, 0.9]);

test("words stand at their partners, in their order and none over another", () => {
  const at = (...centers: number[]) =>
    centers.map((center) => ({ center, weight: center < 0 ? 0 : 1 }));
  assert.deepEqual(placed(at(10, 50), [20, 20], 5, 100), [0, 40]); // just where they want
  // both want one place: they share the way to it; the third wants what lies outside
  assert.deepEqual(placed(at(40, 40, 400), [20, 20, 20], 10, 200), [15, 45, 180]);
  // the other way round: half way for each, never swapped
  assert.deepEqual(placed(at(90, 10), [10, 10], 0, 100), [40, 50]);
  // a word without a partner follows the one before it
  assert.deepEqual(placed(at(50, -1, 95), [10, 10, 10], 5, 100), [45, 60, 90]);
});

test("two sentences are broken together where the fewest links are cut", () => {
  // the first three go into the first four, turned round, the last three into the last two
  const links = [[0, 3], [1, 1], [2, 0], [3, 4], [4, 5], [5, 5]].map(([source, target]) =>
    ({ source, target, strength: 1, mutual: true }));
  const sizes = { source: Array(6).fill(10), target: Array(6).fill(10) };
  const lines = brokenTogether(sizes, links, 0, 45);
  assert.deepEqual(lines, [
    { source: [0, 3], target: [0, 4] }, { source: [3, 6], target: [4, 6] },
  ]);
  // very different lengths, and links that do not help
  const uneven = { source: Array(40).fill(10), target: Array(3).fill(20) };
  const all = brokenTogether(uneven, [], 2, 50);
  for (const side of SIDES) {
    const spans = all.map((pair) => pair[side]);
    assert.deepEqual(spans.map(([from]) => from), [0, ...spans.slice(0, -1).map(([, to]) => to)]);
    assert.equal(spans.at(-1)?.[1], uneven[side].length);
  }
  assert.equal(all.length, 10); // four of 10 and their gaps fit into 50
});

test("a sentence that runs to the left has its first word at the right", () => {
  const [english, hebrew] = [["one", "two", "three"], ["אחד", "שתיים", "שלוש"]];
  const lines = (source: string[], target: string[]) => {
    const data = { ...linkData(3, 3, diagonal(3)), source, target };
    const { places } = planLinks(data, 700, measure);
    return SIDES.map((side) => places[side].map(({ x }) => x));
  };
  const falls = (xs: number[]) => xs.every((x, n) => !n || x < xs[n - 1]);
  const [rising, falling] = lines(english, hebrew);
  assert.ok(falls(falling) && falls([...rising].reverse()));
  const [left, right] = lines(["2", ...hebrew], ["123", ...hebrew]); // digits have no direction
  assert.ok(falls(left) && falls(right) && Math.max(...left) > 600);
  const { places } = planLinks(
    { ...linkData(6, 1, [[5, 0, 1]]), target: [hebrew[0]] }, 700, measure);
  const [last, partner] = [places.source[5], places.target[0]];
  assert.ok(Math.abs(last.x + last.width / 2 - partner.x - partner.width / 2) < 30);
  const [above, below] = lines(hebrew, hebrew);
  assert.deepEqual(above, below); // each at its partner
});

test("every word has a place of its own inside the frame, however wide that is", () => {
  const long = "x".repeat(3000);
  for (const [source, target] of [[40, 33], [3, 60], [1, 1]]) {
    const data = linkData(source, target, diagonal(Math.min(source, target)));
    data.source[0] = data.target[0] = long;
    for (const width of [280, 358, 480, 700, 1240]) {
      const plan = planLinks(data, width, measure);
      const boxes = SIDES.flatMap((side) => plan.places[side].map((box, index) =>
        ({ ...box, side, index })));
      assert.equal(boxes.length, source + target);
      assert.equal(plan.columns, width < 480);
      assertApart(boxes, { width, height: plan.height }, String(width));
      for (const { x, y, width: wide, height, text, side, index } of boxes) {
        assert.ok(measure(text, plan.font, 600) <= wide, text);
        const hit = viewOf(WordLinks, { plan }).hit(x + wide / 2, y + height / 2);
        assert.deepEqual(hit, { side, index });
      }
    }
  }
});

test("keys walk along a sentence and cross over to the strongest partner", () => {
  const data = linkData(4, 3, [[2, 0, 0.9], [2, 1, 0.95]]);
  for (const [from, key, columns, to] of [
    [null, "ArrowDown", false, ["source", 0]],
    [["source", 2], "ArrowRight", false, ["source", 3]],
    [["source", 2], "ArrowDown", false, ["target", 1]],
    [["source", 2], "ArrowUp", false, ["source", 2]],
    [["source", 2], "ArrowDown", true, ["source", 3]],
    [["source", 2], "ArrowRight", true, ["target", 1]],
    [["source", 3], "ArrowDown", false, ["target", 2]],
  ] as any[][]) {
    const [at, next] = [from, to].map((place) => place && { side: place[0], index: place[1] });
    const view = viewOf(WordLinks, { data, plan: { columns }, at });
    assert.deepEqual(view.target(key), next);
    assert.equal(view.target("Tab") ?? null, null);
  }
});

/** The same words with shares. */
const shared = (data: ReturnType<typeof linkData>) => ({
  ...data,
  shares: {
    source: data.source.map((_, n) => n / 10), target: data.target.map((_, n) => 1 - n / 10),
    onSinks: data.target.map(() => 0.25),
  },
});

test("a bar under each word is as long as its share of one scale, and covers no text", () => {
  const data = shared(linkData(6, 5, diagonal(5)));
  for (const width of [300, 700, 120]) {
    const plan = planLinks(data, width, measure);
    const marks = linkMarks({ data, plan, theme, measure, at: null, pinned: null, shown: null });
    const rects = only(marks, "rect").filter(({ height }) => height === 4);
    const bars = rects.filter(({ opacity = 1 }) => opacity === 1);
    const whole = rects.filter(({ opacity = 1 }) => opacity < 1);
    const values = [...data.shares.source, ...data.shares.target];
    assert.equal(bars.length, values.length);
    bars.forEach((bar, n) => {
      assert.ok(Math.abs(bar.width / whole[n].width - values[n]) < 1e-9);
      assert.equal(whole[n].width, whole[0].width);
      const place = SIDES.flatMap((side) => plan.places[side])[n];
      const [from, to] = [whole[n].x, whole[n].x + whole[n].width];
      assert.ok(from >= place.x && to <= place.x + place.width);
      assert.ok(bar.y + bar.height <= place.y + place.height);
      const word = only(marks, "text")[n];
      assert.ok(bar.y >= word.y + plan.font / 2);
    });
  }
});

test("the table and the line for a screen reader have the shares of both words", () => {
  const data = shared(linkData(3, 2, [[1, 0, 0.5]]));
  assert.deepEqual(SHARES, ["Used", "From the source", "Cross-attention on sinks"]);
  assert.deepEqual(pairRows(data), [
    ["s1", "t0", "0.50", "0.10", "1.00", "0.25"],
    ["", "t1", "no partner", "", "0.90", "0.25"],
    ["s0", "", "no partner", "0.00", "", ""],
    ["s2", "", "no partner", "0.20", "", ""],
  ]);
  const view = viewOf(WordLinks, { data, plan: planLinks(data, 700, measure) });
  assert.match(view.sentence({ side: "source", index: 2 }), /0\.20/);
  assert.deepEqual(view.tipNodes({ side: "target", index: 1 })?.join("").match(/\d\.\d+/g),
    ["0.90", "0.25"]);
});

test("the map of the links is named from 1", () => {
  const map = { layer: 1, row: "reads", lens: "norms", error: null } as const;
  assert.equal(mapText({ ...map, head: null }),
    "all cross-attention heads of layer 2 (lens: norms)");
  assert.equal(mapText({ ...map, head: 4, lens: "weights" }), "cross-attention L2 H5");
});
