// Break it in a live page: what the engine computes, in the form of the player.

import type { Trace } from "../core/trace.ts";
import type { Ordered } from "../engine/messages.ts";
import type { Broken } from "../player/break_it.ts";
import { changedRow } from "./words.ts";

export const PLACES = 12; // heads that are removed one after another
export const SEED = 1; // of the random heads beside them

/** @param written subwords as the player shows them */
export function brokenOf(
  { heads, random }: Pick<Ordered, "heads" | "random">, trace: Trace, written: string[],
): Broken {
  const whole = trace.logProbs.reduce((sum, logProb) => sum + logProb, 0);
  return {
    written, total: PLACES, log_p: whole,
    places: heads.map(({ place: [kind, layer, head], logProb, text }, n) => {
      const control = random[n];
      const drawn = control && whole + control.logProb;
      return {
        head: { kind, layer, head }, log_p: whole + logProb, text,
        row: changedRow(trace, text, written.length - 1),
        control: control ? {
          low: drawn, middle: drawn, high: drawn, draws: 1,
          same: control.text === trace.target.text,
        } : null,
      };
    }),
    note: "",
  };
}
