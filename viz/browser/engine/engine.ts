// One model with its tokenizers: text in, traces out. Each request is answered step by step, so
// that a newer one can take its place.

import type { HeadPlace, Trace } from "../core/trace.ts";
import { Edits, paint } from "./edits.ts";
import { EngineError, EOS } from "./folder.ts";
import type { Answer, Order, Ordered, Translate } from "./messages.ts";
import type { Model } from "./model.ts";
import { allHeads, ForcedPass, Ordering, randomHeads } from "./order.ts";
import { chainOf, type Prefix, searching, type SearchResult } from "./search.ts";
import type { Token, Tokenizer } from "./tokenizer.ts";
import { traceOf } from "./trace.ts";
import { withSingleSpaces } from "./words.ts";

const LETTERS_OF_A_PIECE = 64; // at most; a longer text is refused before it is cut into pieces
const PROBABLE = 0.5; // of a word
const TOLD = 24; // heads that are tried until the page hears of it
const WRITES = 16; // subwords that are written until the page hears of it
const KEPT_PIECES = 400; // of a sentence and its translation whose search stays, to paint its maps

/** null where other messages may come in. */
export type Steps<Result = void> = Generator<Answer | null, Result>;

interface Read { source: Token[]; ids: number[] }
/** The heads that a sentence needs most, as far as they are found. */
interface Broken {
  key: string; written: number[]; logP: number; ordering: Ordering; random: Ordered["random"];
}

export class Engine {
  model: Model;
  private source: Tokenizer;
  private target: Tokenizer;
  private whole: { key: string; result: SearchResult }[] = []; // the last two without edits
  private broken: Broken | null = null; // the last order
  private turn = 0; // of what is asked

  constructor(model: Model, tokenizers: Tokenizer[]) {
    this.model = model;
    this.source = tokenizers[0];
    this.target = tokenizers[tokenizers.length - 1];
    const { vocab_size, source_vocab_size } = model.config;
    if (this.target.size !== vocab_size || this.source.size !== (source_vocab_size ?? vocab_size)) {
      throw new EngineError("The model and its tokenizer have not as many pieces: build the page "
        + "anew from the checkpoint.");
    }
  }

  *translate({ turn, text, removed, rows, prefix }: Translate): Steps {
    this.turn = turn;
    this.refuseUnknown([...removed, ...rows.map(({ place }) => place)]);
    const read = this.read(text);
    if (!read) {
      yield { type: "nothing", turn };
      return;
    }
    const forced = this.forced(prefix);
    const edits = Edits.without(removed);
    if (rows.length) {
      const whole = yield* this.wholeOf(read, forced);
      const trace = traceOf(this.model, text, read.source, this.target, whole, unedited(forced));
      paint(edits, rows, trace);
    }
    const isEdited = removed.length || rows.length;
    const result = isEdited ? yield* this.search(read, forced, edits)
      : yield* this.wholeOf(read, forced);
    const edited = { removed, rows, prefix: forced.length };
    const trace = traceOf(this.model, text, read.source, this.target, result, edited);
    yield { type: "translated", turn, trace, unsure: isUnsure(trace) };
    if (!isEdited) return;
    const written = yield* this.written(read);
    yield null;
    const { logP } = new ForcedPass(this.model, read.ids, written, edits);
    yield { type: "original", turn, logProb: logP };
  }

  /** @param request whose turn may become a later one: it may be asked for again meanwhile */
  *order(request: Order): Steps {
    const { text, length, seed } = request;
    const read = this.read(text);
    if (!read) {
      yield { type: "nothing", turn: request.turn };
      return;
    }
    const most = Math.min(length, allHeads(this.model).length);
    const { written, logP, ordering, random } = yield* this.brokenOf(read, [most, seed]);
    const answer = (tried: Ordered["tried"] = [0, 0]): Ordered => ({
      type: "ordered", turn: request.turn, tried, random: [...random],
      heads: ordering.places.map(({ place, logP: now }) => ({ place, logProb: now - logP })),
      done: random.length >= most,
    });
    while (ordering.places.length < most) {
      for (const tried of ordering.next()) yield tried[0] % TOLD ? null : answer(tried);
      yield answer();
    }
    const drawn = randomHeads(this.model, ordering.places.map(({ place }) => place), seed);
    while (random.length < most) {
      const edits = Edits.without(drawn.slice(0, random.length + 1));
      const { best } = yield* this.search(read, [], edits);
      const pass = new ForcedPass(this.model, read.ids, written, edits);
      random.push({
        place: drawn[random.length], logProb: pass.logP - logP, text: this.textOf(best),
      });
      if (random.length < most) yield answer();
    }
    yield answer();
  }

  /** Cut a text into pieces, `</s>` last; null where there is nothing to read. */
  private read(text: string): Read | null {
    const { max_length } = this.model.config;
    if (text.length > LETTERS_OF_A_PIECE * max_length) {
      throw new EngineError(`The text has more than ${LETTERS_OF_A_PIECE * max_length} characters: `
        + "shorten it.");
    }
    const broken = text.search(/\p{Surrogate}/u);
    if (broken >= 0) {
      throw new EngineError(`The text has a broken character at position ${broken + 1}: type it `
        + "again.");
    }
    const pieces = this.source.encode(withSingleSpaces(text));
    if (!pieces.length) return null;
    if (pieces.length > max_length - 1) {
      throw new EngineError(`The text has ${pieces.length} pieces, but this model takes at most `
        + `${max_length - 1}: shorten it.`);
    }
    const source = [...pieces, this.source.token(EOS)];
    return { source, ids: source.map(({ id }) => id) };
  }

  private forced(prefix: string[]): number[] {
    return prefix.map((text) => {
      const id = this.target.idOf(text);
      if (id === undefined || id <= EOS) {
        throw new EngineError(`A translation cannot begin with the piece “${text}”: choose `
          + "another one.");
      }
      return id;
    });
  }

  private refuseUnknown(places: HeadPlace[]) {
    const heads = new Set(allHeads(this.model).map(String));
    const unknown = places.find((place) => !heads.has(String(place)));
    if (!unknown) return;
    const [kind, layer, head] = unknown;
    throw new EngineError(`The model has no head L${layer + 1} H${head + 1} of ${kind}: leave it `
      + "out.");
  }

  private *search({ ids }: Read, forced: number[], edits?: Edits): Steps<SearchResult> {
    const steps = searching(this.model, ids, forced, edits);
    for (let count = 1; ; count++) {
      const { done, value } = steps.next();
      if (done) return value;
      yield count % WRITES ? null : { type: "writing", turn: this.turn, count, read: ids.length };
    }
  }

  /** Search without edits, or take what one of the last such searches gave. */
  private *wholeOf(read: Read, forced: number[]): Steps<SearchResult> {
    const key = JSON.stringify([read.source.map(({ text }) => text), forced]);
    const known = this.whole.find((other) => other.key === key);
    if (known) return known.result;
    const result = yield* this.search(read, forced);
    const isShort = read.ids.length + result.best.length <= KEPT_PIECES;
    this.whole = isShort ? [{ key, result }, ...this.whole.slice(0, 1)] : [];
    return result;
  }

  /** What the whole model writes of a sentence, as pieces. */
  private *written(read: Read): Steps<number[]> {
    return chainOf((yield* this.wholeOf(read, [])).best).map(({ piece }) => piece);
  }

  /** Begin the order of a sentence's heads, or take it as far as it came. */
  private *brokenOf(read: Read, choices: number[]): Steps<Broken> {
    const key = JSON.stringify([read.source.map(({ text }) => text), choices]);
    if (this.broken?.key !== key) {
      const written = yield* this.written(read);
      const { logP } = new ForcedPass(this.model, read.ids, written, Edits.without([]));
      const ordering = new Ordering(this.model, read.ids, written);
      this.broken = { key, written, logP, ordering, random: [] };
    }
    return this.broken;
  }

  private textOf(best: Prefix): string {
    return this.target.decode(chainOf(best).map(({ piece }) => piece));
  }
}

const unedited = (forced: number[]) => ({ removed: [], rows: [], prefix: forced.length });

/** Return whether less than half of the words are probable. */
function isUnsure({ target, logProbs }: Trace): boolean {
  const words: number[] = []; // log P of each
  target.words.forEach((word, n) => {
    if (target.pieces[n] !== "</s>") words[word] = (words[word] ?? 0) + logProbs[n];
  });
  const probable = words.filter((logP) => Math.exp(logP) >= PROBABLE).length;
  return probable < words.length / 2;
}
