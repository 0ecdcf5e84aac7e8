// Break it in a live page: what the engine computes, in the form of the player.

import type { Trace } from "../core/trace.ts";
import type { Ordered } from "../engine/messages.ts";
import type { Broken } from "../player/break_it.ts";
import { mapsOf, WINDOW, writtenBy } from "../player/from_trace.ts";
import { changedRow, changedWords } from "./words.ts";

export const PLACES = 12; // heads that are removed one after another
export const SEED = 1; // of the random heads beside them

/** @param traces what the model writes without the heads of each place */
export function brokenOf(
  { heads, random }: Pick<Ordered, "heads" | "random">, trace: Trace, traces: Trace[],
): Broken {
  const whole = trace.logProbs.reduce((sum, logProb) => sum + logProb, 0);
  return {
    written: writtenBy(trace), total: PLACES, log_p: whole,
    places: heads.map(({ place: [kind, layer, head], logProb, text }, n) => {
      const after = traces[n];
      const control = random[n];
      const drawn = control && whole + control.logProb;
      return {
        head: { kind, layer, head }, log_p: whole + logProb, text, written: writtenBy(after),
        row: changedRow(trace.target, after.target, WINDOW),
        changes: changedWords(trace.target, after.target), maps: mapsOf(after),
        control: control ? {
          low: drawn, middle: drawn, high: drawn, draws: 1,
          same: control.text === trace.target.text,
        } : null,
      };
    }),
    note: "",
  };
}
