// What is changed in the heads while the model runs: a hook between the weights of a head and what
// it takes with them, as transformer/analysis/heads/removal.py has it.

import type { HeadPlace, Kind, KindTrace, Row, Trace } from "../core/trace.ts";
import { EngineError } from "./folder.ts";

/** The weights of a head that are given instead of its own, `[query, key]`. */
export interface GivenMap { weights: Float32Array; queries: number; keys: number }

export interface Edit {
  removed?: boolean; // the head writes zeros
  map?: GivenMap; // rows beyond it stay as they are
}

/** Changes by kind and layer, then by head. */
export class Edits {
  private layers = new Map<string, Edit[]>();

  static without(heads: HeadPlace[]): Edits {
    const edits = new Edits();
    for (const place of heads) edits.add(place, { removed: true });
    return edits;
  }

  add([kind, layer, head]: HeadPlace, edit: Edit) {
    const name = `${kind} ${layer}`;
    const heads = [...this.layers.get(name) ?? []];
    heads[head] = { ...heads[head], ...edit };
    this.layers.set(name, heads);
  }

  /** Make a copy without one more head. */
  without(place: HeadPlace): Edits {
    const edits = new Edits();
    edits.layers = new Map(this.layers);
    edits.add(place, { removed: true });
    return edits;
  }

  at(kind: Kind, layer: number): Edit[] | undefined {
    return this.layers.get(`${kind} ${layer}`);
  }
}

/** Paint rows of heads: the whole map of each stays as it was, but for its painted rows.
 * @param before the trace on which they were painted */
export function paint(edits: Edits, rows: Row[], before: Trace) {
  const maps = new Map<string, GivenMap>();
  for (const { place, row, weights } of rows) {
    const [kind, layer, head] = place;
    const map = maps.get(String(place)) ?? copyOf(before, place);
    const { queries, keys } = map;
    const seen = kind === "decoder_self" ? row + 1 : keys;
    if (row >= queries || weights.slice(seen).some((weight) => weight)) {
      throw new EngineError(`The painted row ${row + 1} of L${layer + 1} H${head + 1} is not in `
        + `this sentence's map of ${queries} × ${keys}, or looks at what its mask hides: paint it `
        + "again.");
    }
    map.weights.fill(0, row * keys, (row + 1) * keys);
    map.weights.set(weights.slice(0, seen), row * keys);
    maps.set(String(place), map);
    edits.add(place, { map });
  }
}

function copyOf({ source, target, kinds }: Trace, [kind, layer, head]: HeadPlace): GivenMap {
  const maps = kinds.find((other) => other.kind === kind) as KindTrace;
  const queries = (kind === "encoder_self" ? source : target).pieces.length;
  const keys = (kind === "decoder_self" ? target : source).pieces.length;
  const first = (layer * maps.heads + head) * queries * keys;
  return { weights: maps.weights.slice(first, first + queries * keys), queries, keys };
}
