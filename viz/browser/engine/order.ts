// The heads that one sentence needs most, found by removing them, as
// transformer/analysis/heads/removal_order.py has it: for the first of every ROUND places each head
// that is left is really removed; for the others, the CANDIDATES that were worst in that round.

import type { HeadPlace, Kind } from "../core/trace.ts";
import { Edits } from "./edits.ts";
import { BOS, type Stack } from "./folder.ts";
import type { Encoded, Model, Row } from "./model.ts";
import { logSum } from "./search.ts";

const [GREEDY, CANDIDATES, ROUND] = [12, 16, 4];

export interface Removal { place: HeadPlace; logP: number } // log P without it and all before it

/** List the heads of a model by kind, layer and number. */
export function allHeads({ encoder, decoder }: Model): HeadPlace[] {
  const heads = (kind: Kind, { N, h }: Stack) =>
    Array.from({ length: N * h }, (_, n): HeadPlace => [kind, Math.floor(n / h), n % h]);
  const ofDecoder = heads("decoder_self", decoder);
  return [...heads("encoder_self", encoder), ...ofDecoder, ...heads("cross", decoder)];
}

/** Find the order of removal; between two heads it yields null, so that it can be left.
 * @param written pieces of the translation, whose log P counts */
export function* ordering(
  model: Model, ids: number[], written: number[], length: number,
): Generator<Removal | null, void> {
  const heads = allHeads(model);
  const removed: HeadPlace[] = [];
  let others: HeadPlace[] = []; // by the last full round, the worst first
  for (let n = 0; n < Math.min(length, heads.length); n++) {
    const isRound = n % ROUND === 0;
    const left = n < GREEDY ? (isRound ? heads : others.slice(0, CANDIDATES)) : others.slice(0, 1);
    const tried = heads.filter((head) => left.includes(head) && !removed.includes(head));
    const pass = new ForcedPass(model, ids, written, removed);
    const results: Removal[] = [];
    for (const place of tried) {
      results.push({ place, logP: pass.without(place) });
      yield null;
    }
    results.sort((a, b) => a.logP - b.logP);
    const [first] = results;
    if (isRound && n < GREEDY) others = results.map(({ place }) => place);
    others = others.filter((place) => place !== first.place);
    removed.push(first.place);
    yield first;
  }
}

/** Draw as many other heads, each of the kind of the head in its place. */
export function randomHeads(model: Model, order: HeadPlace[], seed: number): HeadPlace[] {
  const random = randomNumbers(seed);
  const names = order.map(String);
  const drawn = allHeads(model).map((place) => ({ place, at: random() }))
    .sort((a, b) => a.at - b.at).map(({ place }) => place);
  const isInOrder = (place: HeadPlace) => Number(names.includes(String(place)));
  drawn.sort((a, b) => isInOrder(a) - isInOrder(b)); // these only where others are too few
  return order.map(([kind]) => drawn.splice(drawn.findIndex(([other]) => other === kind), 1)[0]);
}

/** A translation under teacher forcing without some heads, and without one more of them. */
export class ForcedPass {
  logP: number;
  declare private model: Model;
  declare private ids: number[];
  declare private written: number[];
  declare private removed: HeadPlace[];
  private rows: Row[];
  private encoded: Encoded;
  private other: Encoded; // of the sentence, with another head removed
  private inputs = { encoder: [] as Float32Array[], decoder: [] as Float32Array[] };

  constructor(model: Model, ids: number[], written: number[], removed: HeadPlace[]) {
    Object.assign(this, { model, ids, written, removed });
    this.rows = [BOS, ...written.slice(0, -1)].map((piece, position) => (
      { piece, position, slots: Array.from({ length: position + 1 }, (_, n) => n) }));
    const edits = Edits.without(removed);
    [this.encoded, this.other] = model.begin(ids.length, written.length, written.length, 2);
    model.encode(ids, this.encoded, edits, this.inputs.encoder);
    model.decode(this.encoded, this.rows, edits, undefined, this.inputs.decoder);
    this.logP = this.score();
  }

  /** @returns log P without this head too; the layers before it are not computed anew */
  without(place: HeadPlace): number {
    const { model, ids, rows, encoded, other, inputs } = this;
    const [kind, layer] = place;
    const edits = Edits.without([...this.removed, place]);
    const inEncoder = kind === "encoder_self";
    if (inEncoder) model.encode(ids, other, edits, undefined, { layer, inputs: inputs.encoder });
    model.decode(inEncoder ? other : encoded, rows, edits, undefined, undefined, {
      layer: inEncoder ? 0 : layer, inputs: inputs.decoder,
    });
    return this.score();
  }

  private score(): number {
    const { kernel, config: { vocab_size } } = this.model;
    let sum = 0;
    this.model.logits(this.rows.length, (row, place) => {
      const { floats } = kernel;
      sum += floats[place + this.written[row]] - logSum(floats, place, vocab_size);
    });
    return sum;
  }
}

/** Draw numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
