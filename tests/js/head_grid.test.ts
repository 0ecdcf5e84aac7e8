import assert from "node:assert/strict";
import { test } from "node:test";
import { COLOR } from "../../viz/browser/core/palette.ts";
import {
  cellOf, type Head, planGrid, range, wordedPart,
} from "../../viz/browser/head_grid/plan.ts";
import { nextCell, tileOf } from "../../viz/browser/head_grid/view.ts";
import { assertApart, gridPart, measure } from "./samples.ts";

const PARTS = ["encoder_self", "decoder_self", "cross"].map((kind) => gridPart(kind, 3, 8, 9, 9));

test("every head has one place, no two overlap, and all lie on the page", () => {
  for (const width of [300, 460, 900, 1600]) {
    const plan = planGrid({ parts: PARTS, order: null }, width, measure);
    assert.equal(new Set(plan.cells.map(({ id }) => id)).size, 3 * 3 * 8);
    assertApart(plan.cells, plan, String(width));
  }
});

test("many heads stand closer, and what has no room yet is wider than the frame, not cut", () => {
  const sizes = [[64, 480, true], [56, 480, true], [40, 358, true], [32, 300, true],
    [128, 480, false]];
  for (const [heads, width, fits] of sizes as [number, number, boolean][]) {
    const parts = [gridPart("cross", 2, heads, 9, 9)];
    const { cells, texts, width: wide } = planGrid({ parts, order: null }, width, measure);
    assert.equal(wide <= width, fits, `${heads} in ${width}: ${wide}`);
    const [first, second] = [cells.slice(0, heads), cells.slice(heads)];
    first.slice(1).forEach(({ x }, n) => assert.ok(x > first[n].x + first[n].width));
    assert.ok(first.every((cell) => cell.width >= 4 && cell.x + cell.width <= wide));
    assert.ok(second[0].y - first[0].y >= 14); // a name beside each layer
    assert.ok(texts.every(({ x }) => x <= wide));
  }
});

test("on a phone every head keeps its role, word under word or squeezed, and none is cut", () => {
  const names = [
    "end token", "punctuation", "aligns", "", "previous", "same word", "in order", "x",
  ];
  const roles = range(3).map(() => names);
  for (const width of [358, 390, 1200]) {
    const plan = planGrid({ parts: [gridPart("cross", 3, 8, 12, 12, { roles })], order: null },
      width, measure);
    const { cells, texts } = plan;
    const under = (cell: typeof cells[0]) => texts.filter(({ x, y }) =>
      x === cell.x + cell.width / 2 && y > cell.y + cell.height && y < cell.y + cell.height + 40);
    for (const cell of cells) {
      const words = under(cell);
      assert.equal(words.map(({ text }) => text).join(" "), names[cell.head]);
      for (const { text, size, room = Infinity } of words) {
        assert.ok(size >= 10 && Math.min(room, measure(text, size, 400)) <= cell.width + 6);
      }
    }
    const ends = texts.map(({ y }) => y);
    assert.ok(Math.max(...ends) <= plan.height + 40);
  }
  const many = range(3).map(() => range(64).map(() => "punctuation"));
  const part = gridPart("cross", 3, 64, 12, 12, { roles: many });
  const tiny = planGrid({ parts: [part], order: null }, 358, measure);
  assert.ok(!tiny.texts.some(({ text }) => text === "punctuation")); // left to the tip
});

test("an order of its own is read line by line", () => {
  const order: Head[] = [["cross", 2, 1], ["encoder_self", 0, 7], ["cross", 0, 0]];
  const { cells, groups } = planGrid({ parts: PARTS, order }, 150, measure);
  assert.deepEqual(cells.map(({ id }) => id), ["cross 2 1", "encoder_self 0 7", "cross 0 0"]);
  assert.deepEqual(groups.map(({ rows }) => rows.flat().length), [3]);
});

function tile(more: any, ratio: number) {
  const part = gridPart("cross", 1, 1, 4, 4, more);
  const cell = { ...cellOf(part, 0, 0), x: 0, y: 0, width: 2, height: 2 };
  return tileOf(cell, "light", ratio);
}

test("where cells share a pixel the largest counts, and a large pixel is one cell", () => {
  const weights = new Uint8Array(16);
  [weights[3], weights[13]] = [200, 90];
  const reds = ({ pixels, width, height }: any) =>
    Array.from({ length: width * height }, (_, n) => pixels[4 * n]);
  assert.deepEqual(reds(tile({ weights }, 1)), [0, 200, 90, 0]);
  assert.deepEqual(reds(tile({ weights }, 2)), [...weights]);
});

test("arrows go straight on before askew and never leave their row", () => {
  const [from, right, askew, below] = [[0, 0], [40, 0], [40, 15], [0, 60]].map(([x, y]) =>
    ({ x, y, width: 10, height: 10 }));
  const cells = [from, right, askew, below];
  assert.equal(nextCell(cells, from, "ArrowRight"), right);
  assert.equal(nextCell(cells, from, "ArrowDown"), below);
  assert.equal(nextCell(cells, right, "ArrowDown"), askew);
  assert.equal(nextCell(cells, from, "ArrowLeft"), null);
});

test("layers have the heads that are there, and names of heads touch nowhere", () => {
  const part = gridPart("encoder_self", 3, 16, 9, 9, { counts: [16, 2, 5] });
  for (const width of [330, 600, 1200]) {
    const { cells, texts } = planGrid({ parts: [part], order: null }, width, measure);
    assert.deepEqual([0, 1, 2].map((layer) =>
      cells.filter((cell) => cell.layer === layer).length), [16, 2, 5]);
    const names = texts.filter(({ text }) => /^H\d+$/.test(text)).sort((a, b) => a.x - b.x);
    assert.equal(names[0].text, "H1");
    names.slice(1).forEach((name, n) => {
      const before = names[n];
      const letters = name.text + before.text;
      const close = `${before.text} and ${name.text} at ${width}`;
      assert.ok(name.x - before.x > measure(letters, name.size, 400) / 2, close);
    });
  }
});

test("a part of a message has its kind's name and colour, and values of three figures", () => {
  const values = Float32Array.of(0.5, -3.456, 12.34, NaN);
  const part = wordedPart({
    ...gridPart("cross", 2, 2, 1, 1), kind: "cross", queries: ["▁Hun", "de"], values,
  });
  assert.deepEqual(part.values, [["0.50", "−3.46"], ["12.3", ""]]);
  assert.deepEqual(part.queries, ["Hun", "·de"]);
  assert.deepEqual([part.name, part.color], ["cross-attention", COLOR.cross]);
});
