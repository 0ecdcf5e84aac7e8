// node --import ./tests/js/typescript.mjs tests/js/player_states.mjs FILE…: what a player says and
// draws of each message with its trace, as JSON: for each kind and step its sentence, the row of
// the open head, and the bars.

import { readFileSync } from "node:fs";
import { readTrace } from "../../viz/browser/core/trace.ts";
import { decode } from "../../viz/browser/core/wire.ts";
import { momentsOf, rowBetween } from "../../viz/browser/player/plan.ts";
import { Player } from "../../viz/browser/player/view.ts";
import { plain, viewOf } from "./samples.ts";

const players = process.argv.slice(2).map((file) => {
  const { trace, player } = decode(new Uint8Array(readFileSync(file)));
  const data = Player.read({ ...player, trace: readTrace(trace.trace) });
  return data.kinds.map((kind) => {
    const [layer, head] = kind.selected;
    const place = { kind: kind.kind, layer, head };
    const view = viewOf(Player, {
      data, kind, selected: { [kind.kind]: place }, part: 1, ribbons: "head",
      tiles: { pointed: null }, pointer: { word: null, ribbon: null }, breaking: { removed: [] },
    });
    const steps = Array.from({ length: momentsOf(data, kind) }, (_, step) => ({
      says: plain(Object.assign(view, { step }).sentence()),
      row: rowBetween(kind, place, step, 1),
    }));
    const { kind: id, name } = kind;
    return { outside: data.outside, kind: id, name, layer, head, steps, bars: data.steps };
  });
});
console.log(JSON.stringify(players));
