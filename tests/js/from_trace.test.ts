import assert from "node:assert/strict";
import { test } from "node:test";
import type { About, Trace } from "../../viz/browser/core/trace.ts";
import { explorerData } from "../../viz/browser/explorer_from_trace.ts";
import { isCrossed, ribbonsOf } from "../../viz/browser/player/marks.ts";
import { playerData } from "../../viz/browser/player/from_trace.ts";
import { Player } from "../../viz/browser/player/view.ts";
import { curveMarks, planRibbons, ribbonsOf as bandsOf } from "../../viz/browser/ribbons.ts";
import { linkData } from "../../viz/browser/word_links/from_trace.ts";
import { measure, only, plain, ribbonData, viewOf } from "./samples.ts";

const about: About = {
  languages: [{ code: "en", name: "English" }, { code: "de", name: "German" }], madeBy: "Test",
  alignment: { layer: 0, head: 1, row: "reads", lens: "weights", error: 0.2366 }, roles: {},
};

/** Two words of one piece each; head 2 of the cross-attention reads them the other way round. */
const traceOf = (removed: Trace["edited"]["removed"]): Trace => ({
  source: { text: "a b", pieces: ["▁a", "▁b", "</s>"], words: [0, 1, 2] },
  target: { text: "x y", pieces: ["▁x", "▁y", "</s>"], words: [0, 1, 2] },
  kinds: [{
    kind: "cross", layers: 1, heads: 2, causal: false,
    weights: Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0.1, 0.9, 0, 0.7, 0.3, 0),
  }],
  logProbs: Float32Array.of(-1, -1, -1), options: [], beginnings: [[], [], []],
  edited: { removed, rows: [], prefix: 0 },
});

const GONE: Trace["edited"]["removed"] = [["cross", 0, 1]];

test("words are linked by the map of the alignment, and by none once its head is removed", () => {
  const whole = linkData(traceOf([]), about);
  assert.deepEqual(whole.links.map(({ source, target, mutual }) => [source, target, mutual]),
    [[1, 0, true], [0, 1, true]]);
  assert.ok(!whole.note.includes("Dashed"));
  const without = linkData(traceOf(GONE), about);
  assert.ok(without.links.every(({ mutual }) => !mutual));
  assert.match(without.note, /Dashed: cross-attention L1 H2.* is removed/);
  assert.deepEqual(linkData(traceOf(GONE), { ...about, alignment: null }).links, []);
});

test("a removed head is crossed out, has no ribbons in the player, and dashed ones below", () => {
  const trace = traceOf(GONE);
  const data = { ...playerData(trace, about, { selected: { cross: [0, 1] } }), steps: [] };
  assert.match(data.linked?.about ?? "", /L1 H2.* is removed/);
  const [kind] = data.kinds;
  const [gone, there] = [1, 0].map((head) => ({ kind: "cross" as const, layer: 0, head }));
  const moment: any = {
    data, kind, head: gone, step: 0, part: 1, all: false, removed: [], crossed: data.crossed,
    shows: "head", plan: { top: 0, bottom: 90, high: 20, source: [], written: [] },
  };
  assert.ok(isCrossed(moment, gone) && !isCrossed(moment, there));
  assert.deepEqual(ribbonsOf(moment), []);
  const player = viewOf(Player, {
    data, kind, selected: { cross: gone }, step: 0, part: 1, ribbons: "head",
    tiles: { pointed: null }, pointer: { word: null, ribbon: null }, breaking: { removed: [] },
  });
  assert.equal(plain(player.sentence()), "cross-attention L1 H2 is removed and looks at nothing.");
  const { grid } = explorerData(trace, about, ["cross", 0, 1]);
  assert.deepEqual(grid.crossed, GONE);
  const ribbons = { ...ribbonData(2, 2, 2), unused: [false, true] };
  const curves = {
    data: ribbons, plan: planRibbons(ribbons, 2, 500, measure), colors: ["#000000", "#ff0000"],
    on: [0, 1], shown: null,
  };
  const paths = only([curveMarks(curves, bandsOf(ribbons, [0, 1], null))], "path");
  assert.ok(paths.every(({ stroke, dash }) => (stroke === "#ff0000") === Boolean(dash)));
});

test("of a long sentence, the head that opens first is chosen by what is drawn", () => {
  const trace = traceOf([]);
  const [part] = trace.kinds;
  trace.kinds = [{
    ...part, size: [2, 2], weights: Float32Array.of(0.2, 0.1, 0.1, 0.2, 0, 0.9, 0.8, 0),
  }];
  const [{ selected, size, whole }] = playerData(trace, { ...about, alignment: null }).kinds;
  assert.deepEqual([selected, size, whole], [[0, 1], [2, 2], [2, 2]]);
});
