// The heads that one sentence needs most, found by removing them, as
// transformer/analysis/heads/removal_order.py has it: for the first of every ROUND places each head
// that is left is really removed; for the others, the CANDIDATES that were worst in that round.

import type { HeadPlace, Kind } from "../core/trace.ts";
import { Edits } from "./edits.ts";
import { BOS, type Stack } from "./folder.ts";
import type { Encoded, Model, Row } from "./model.ts";
import { logSum } from "./search.ts";

const [GREEDY, CANDIDATES, ROUND] = [12, 16, 4];
const ROWS = 64; // of the decoder that are computed at once, where the translation is shorter

export interface Removal { place: HeadPlace; logP: number } // log P without it and all before it

/** List the heads of a model by kind, layer and number. */
export function allHeads({ encoder, decoder }: Model): HeadPlace[] {
  const heads = (kind: Kind, { N, h }: Stack) =>
    Array.from({ length: N * h }, (_, n): HeadPlace => [kind, Math.floor(n / h), n % h]);
  const ofDecoder = heads("decoder_self", decoder);
  return [...heads("encoder_self", encoder), ...ofDecoder, ...heads("cross", decoder)];
}

/** The order of removal, place by place. */
export class Ordering {
  places: Removal[] = [];
  private others: HeadPlace[] = []; // by the last full round, the worst first
  private results: Removal[] = []; // of the heads that are tried for the next place
  private heads: HeadPlace[];
  declare private model: Model;
  declare private ids: number[];
  declare private written: number[];

  /** @param written pieces of the translation, whose log P counts */
  constructor(model: Model, ids: number[], written: number[]) {
    Object.assign(this, { model, ids, written });
    this.heads = allHeads(model);
  }

  /** Find the next place; it yields how many of its heads are tried, and can be left then: called
   * again, it goes on with the others. */
  *next(): Generator<[tried: number, most: number], void> {
    const { heads, others, results, places: { length: n } } = this;
    const removed = this.places.map(({ place }) => place);
    const isRound = n % ROUND === 0;
    const left = n < GREEDY ? (isRound ? heads : others.slice(0, CANDIDATES)) : others.slice(0, 1);
    const tried = heads.filter((head) => left.includes(head) && !removed.includes(head));
    const pass = new ForcedPass(this.model, this.ids, this.written, Edits.without(removed));
    const before = results.map(({ place }) => place);
    for (const result of pass.without(tried.filter((head) => !before.includes(head)))) {
      results.push(result);
      yield [results.length, tried.length];
    }
    results.sort((a, b) => a.logP - b.logP);
    const [first] = results;
    const ranked = isRound && n < GREEDY ? results.map(({ place }) => place) : others;
    this.others = ranked.filter((place) => place !== first.place);
    this.places.push(first);
    this.results = [];
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

/** A translation under teacher forcing with some edits, and without one head more. */
export class ForcedPass {
  logP: number;
  declare private model: Model;
  declare private ids: number[];
  declare private written: number[];
  declare private edits: Edits;
  private encoded: Encoded;
  private others: Encoded[]; // of the sentence, each with another head removed
  private rows: Row[]; // of the translation, so many times
  private inputs = { encoder: [] as Float32Array[], decoder: [] as Float32Array[] };

  constructor(model: Model, ids: number[], written: number[], edits: Edits) {
    Object.assign(this, { model, ids, written, edits });
    const count = Math.max(1, Math.floor(ROWS / written.length));
    const rows = count * written.length;
    [this.encoded, ...this.others] = model.begin(ids.length, rows, rows, 1 + count);
    const pieces = [BOS, ...written.slice(0, -1)];
    this.rows = this.others.flatMap((_, copy) => pieces.map((piece, position) => {
      const slots = Array.from({ length: position + 1 }, (__, n) => copy * written.length + n);
      return { piece, position, source: this.encoded, edits, slots };
    }));
    model.encode(ids, this.encoded, edits, { inputs: this.inputs.encoder });
    model.decode(this.rows.slice(0, written.length), { inputs: this.inputs.decoder });
    [this.logP] = this.scores(1);
  }

  /** Compute log P without each of these heads too, several at once where the same layers of the
   * decoder, and what they read, are those without it. */
  *without(places: HeadPlace[]): Generator<Removal, void> {
    const { model, ids, written, inputs, others: { length: most } } = this;
    const groups = new Map<number, HeadPlace[]>(); // by the first layer that changes
    for (const place of places) {
      const first = place[0] === "encoder_self" ? -1 : place[1];
      groups.set(first, [...groups.get(first) ?? [], place]);
    }
    for (const [first, group] of groups) {
      while (group.length) {
        const heads = group.splice(0, most);
        const rows = this.rows.slice(0, heads.length * written.length);
        heads.forEach((place, n) => {
          const edits = this.edits.without(place);
          const source = first >= 0 ? this.encoded : model.encode(ids, this.others[n], edits,
            { earlier: { layer: place[1], inputs: inputs.encoder } });
          for (let at = n * written.length; at < (n + 1) * written.length; at++) {
            Object.assign(rows[at], { source, edits });
          }
        });
        model.decode(rows, { earlier: { layer: Math.max(0, first), inputs: inputs.decoder } });
        yield* this.scores(heads.length).map((logP, n) => ({ place: heads[n], logP }));
      }
    }
  }

  /** Sum the log probabilities of what is written, for so many copies of the rows. */
  private scores(copies: number): number[] {
    const { written, model: { kernel, config: { vocab_size } } } = this;
    const sums = new Array<number>(copies).fill(0);
    this.model.logits(copies * written.length, (row, place) => {
      const { floats } = kernel;
      const logit = floats[place + written[row % written.length]];
      sums[Math.floor(row / written.length)] += logit - logSum(floats, place, vocab_size);
    });
    return sums;
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
