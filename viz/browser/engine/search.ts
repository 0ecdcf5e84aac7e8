// Beam search (§6.1), as transformer/decoding has it: the K best prefixes go on until K
// translations are finished. What each row held probable and looked at stays with its prefix, so
// that the trace of the translation is read along its parents without another pass.

import type { Edits } from "./edits.ts";
import { BOS, EngineError, EOS, PAD, UNK } from "./folder.ts";
import type { Encoded, Looks, Model } from "./model.ts";

const NEVER_WRITTEN = [PAD, UNK, BOS];
const BEAM_SIZE = 4; // the paper's, as all three
const ALPHA = 0.6;
const MAX_EXTRA = 50;
const OPTIONS = 6; // most probable next pieces that are kept of each row

export interface Option { piece: number; logProb: number }

/** The pieces of its parent, and one more. */
export interface Prefix {
  parent: Prefix | null;
  piece: number;
  logProb: number; // of that piece
  total: number; // of all of them
  length: number;
  slots: number[];
  state: "kept" | "finished" | "dropped";
  uses: number; // live and finished prefixes that begin with it
  looks?: Looks; // of the row that reads its piece
  options?: Option[]; // what follows it most probably
  score: number;
}

export interface SearchResult {
  best: Prefix;
  prefixes: Prefix[]; // all that the beam kept or finished, parents before their children
  read: Float32Array[]; // what each piece of the sentence looked at, `[layer, head, key]`
}

/** @returns the prefixes of one piece, of two, and so on up to this one */
export function chainOf(leaf: Prefix): Prefix[] {
  const chain: Prefix[] = [];
  for (let at = leaf; at.parent; at = at.parent) chain.push(at);
  return chain.reverse();
}

/** Search step by step, so that it can be left after each.
 * @param ids of the sentence, `</s>` last @param forced pieces that the translation begins with */
export function* searching(
  model: Model, ids: number[], forced: number[] = [], edits?: Edits,
): Generator<void, SearchResult> {
  const K = BEAM_SIZE;
  const limit = Math.min(ids.length + MAX_EXTRA, model.config.max_length);
  if (forced.length >= limit) {
    throw new EngineError(`The forced prefix and one piece after it are ${forced.length + 1} `
      + `pieces, but the translation may have at most ${limit}: shorten the prefix.`);
  }
  const [room] = model.begin(ids.length, K * (limit + 1), Math.max(K, forced.length + 1));
  const { N, h } = model.encoder;
  const sentence = ids.map(() => new Float32Array(N * h * ids.length));
  const encoded = model.encode(ids, room, edits, { looks: sentence });
  let slots = 1; // that are taken
  const start: Prefix = {
    parent: null, piece: BOS, logProb: 0, total: 0, length: 0, slots: [0], state: "kept", uses: 1,
    score: 0,
  };
  const follow = (parent: Prefix, { piece, logProb }: Option): Prefix => ({
    parent, piece, logProb, total: Math.fround(parent.total + logProb), length: parent.length + 1,
    slots: [], state: "dropped", uses: 0, score: 0,
  });
  const prefixes: Prefix[] = [];
  const keep = (prefix: Prefix, state: Prefix["state"]) => {
    const parent = prefix.parent as Prefix;
    Object.assign(prefix, { state, uses: 1 });
    parent.uses++;
    if (state === "kept") prefix.slots = [...parent.slots, slots++];
    prefixes.push(prefix);
    return prefix;
  };
  const first = [start];
  for (const piece of forced) {
    first.push(keep(follow(first[first.length - 1], { piece, logProb: 0 }), "kept"));
  }
  read(model, encoded, first, forced, edits);
  for (const prefix of prefixes) {
    const { options, total } = prefix.parent as Prefix;
    prefix.logProb = options!.find(({ piece }) => piece === prefix.piece)!.logProb;
    prefix.total = Math.fround(total + prefix.logProb);
  }
  const live = first.splice(-1);
  first.forEach(release);
  let finished: Prefix[] = [];
  for (let length = forced.length + 1; live.length; length++) {
    const candidates = live.flatMap((parent) =>
      parent.options!.slice(0, 2 * K).map((option) => follow(parent, option)))
      .sort((a, b) => b.total - a.total).slice(0, 2 * K);
    const parents = live.splice(0);
    candidates.forEach((candidate, rank) => {
      const ends = candidate.piece === EOS;
      if (ends && rank < K) finished.push(scored(keep(candidate, "finished")));
      else if (!ends && live.length < K) live.push(keep(candidate, "kept"));
    });
    parents.forEach(release);
    if (!live.length && !finished.length) {
      throw new EngineError("The model's numbers are not finite: take another model.");
    }
    if (length >= limit && finished.length < K) {
      finished.push(...live.splice(0, K - finished.length).map(scored));
    }
    finished = finished.sort(byScore);
    if (length >= limit || finished.length >= K) {
      for (const prefix of [...finished.splice(K), ...live.splice(0)]) {
        prefix.state = "dropped";
        release(prefix);
      }
      break;
    }
    yield;
    read(model, encoded, live, [], edits);
  }
  finished.slice(1).forEach(release);
  return {
    best: finished[0], read: sentence,
    prefixes: prefixes.filter(({ state }) => state !== "dropped"),
  };
}

/** Let the decoder read the last piece of some prefixes.
 * @param forced what follows each, where that is given */
function read(
  model: Model, encoded: Encoded, prefixes: Prefix[], forced: number[], edits?: Edits,
) {
  const { N, h } = model.decoder;
  const looks: Looks[] = prefixes.map(({ slots }) => ({
    self: new Float32Array(N * h * slots.length), cross: new Float32Array(N * h * encoded.length),
  }));
  const rows = prefixes.map(({ piece, length, slots }) => (
    { piece, position: length, slots, source: encoded, edits }));
  model.decode(rows, { looks });
  model.logits(rows.length, (row, place) => {
    prefixes[row].looks = looks[row];
    prefixes[row].options = optionsAt(model, place, forced[row]);
  });
}

/** Give back what dead prefixes looked at: with all of them, a long sentence would not fit. */
function release(prefix: Prefix) {
  for (let at: Prefix | null = prefix; at && --at.uses === 0; at = at.parent) {
    at.looks = at.options = undefined;
  }
}

/** Score a hypothesis by log P over the length penalty. */
function scored(leaf: Prefix): Prefix {
  const sum = chainOf(leaf).reduce((total, { logProb }) => total + logProb, 0);
  leaf.score = sum / ((5 + leaf.length) / 6) ** ALPHA;
  return leaf;
}

/** The best first, those without an end after all others. */
const byScore = (a: Prefix, b: Prefix) =>
  Number(b.piece === EOS) - Number(a.piece === EOS) || b.score - a.score;

/** List the most probable pieces after a row, the best first.
 * @param place of its first logit @param forced a piece that is in the list in any case */
function optionsAt({ kernel: { floats }, config }: Model, place: number, forced?: number) {
  const total = logSum(floats, place, config.vocab_size);
  const most = Math.max(2 * BEAM_SIZE, OPTIONS);
  const best: Option[] = [];
  let least = -Infinity;
  for (let piece = 0; piece < config.vocab_size; piece++) {
    const logit = floats[place + piece];
    if (!(logit > least) || NEVER_WRITTEN.includes(piece)) continue;
    let n = best.length;
    while (n && best[n - 1].logProb < logit) n--;
    best.splice(n, 0, { piece, logProb: logit });
    if (best.length > most) best.pop();
    if (best.length === most) least = best[most - 1].logProb;
  }
  if (forced !== undefined && !best.some(({ piece }) => piece === forced)) {
    best.push({ piece: forced, logProb: floats[place + forced] });
  }
  for (const option of best) option.logProb = Math.fround(option.logProb - total);
  return best;
}

/** Compute log Σ exp of so many numbers. */
export function logSum(floats: Float32Array, place: number, count: number): number {
  let [most, sum] = [-Infinity, 0];
  for (let n = place; n < place + count; n++) if (floats[n] > most) most = floats[n];
  for (let n = place; n < place + count; n++) sum += exp(floats[n] - most);
  return most + Math.log(sum);
}

const STEPS = 64; // of the table to a nat
const POWERS = Float64Array.from({ length: 40 * STEPS }, (_, n) => Math.exp(-(n + 0.5) / STEPS));

/** Compute exp of a number that is not above 0 to 1e-7 of it, faster than `Math.exp`. */
function exp(x: number): number {
  const n = Math.floor(-x * STEPS);
  if (!(n < POWERS.length)) return Math.exp(x);
  const r = x + (n + 0.5) / STEPS;
  return POWERS[n] * (1 + r * (1 + r / 2));
}
