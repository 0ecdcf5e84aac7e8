// The encoder-decoder (§3.1). The encoder reads a sentence once, the decoder any number of rows: a
// row is one piece at one position, with the slots of all pieces before it. So a step of a search,
// a forced prefix and a whole translation are the same to it, and no cache is ever moved.

import type { Edits } from "./edits.ts";
import { type Config, EngineError, type Stack, stacksOf } from "./folder.ts";
import type { Kernel } from "./kernel.ts";
import { Layers, type Query } from "./layers.ts";
import type { Weights } from "./weights.ts";

const LOGIT_ROWS = 4; // as many as the kernel multiplies at once

export interface Row {
  piece: number;
  position: number;
  slots: number[]; // of the pieces before it, then its own
  source: Encoded;
  edits?: Edits;
}

/** What every head looks at from one row, `[layer, head, key]`. */
export interface Looks { self: Float32Array; cross: Float32Array }

/** A sentence as the decoder sees it. */
export interface Encoded {
  length: number;
  keys: number[]; // first float of the table of each layer of the decoder
  values: number[];
}

/** What each layer read in an earlier pass: with other edits in later layers it reads the same. */
export interface Earlier {
  layer: number; // the first one that is computed anew
  inputs: Float32Array[];
}

/** What a pass records, and where it begins. */
export interface Pass<L> {
  looks?: L[]; // gets what each row looks at
  inputs?: Float32Array[]; // gets what each layer reads
  earlier?: Earlier;
}

export class Model {
  kernel: Kernel;
  config: Config;
  encoder: Stack;
  decoder: Stack;
  private weights: Weights;
  private layers: Layers;
  private start: number; // of the memory that each sentence takes anew
  private self = { keys: [] as number[], values: [] as number[] };
  private room = { X: 0, Q: 0, K: 0, V: 0, Z: 0, Y: 0, hidden: 0, scores: 0, slots: 0, logits: 0 };
  private waves = new Map<number, Float32Array>(); // positions by their number

  constructor(weights: Weights, config: Config) {
    if (!["relu", "swish", "gelu"].includes(config.activation)
      || !["sinusoidal", "learned"].includes(config.positions)) {
      throw new EngineError(`The model has the activation ${config.activation} and `
        + `${config.positions} positions, which this page cannot compute: take another model.`);
    }
    this.kernel = weights.kernel;
    this.weights = weights;
    this.config = config;
    this.layers = new Layers(weights, config);
    ({ encoder: this.encoder, decoder: this.decoder } = stacksOf(config));
    this.start = this.kernel.top;
  }

  /** Forget the last sentence, and make room for one of `length` pieces.
   * @param slots of the decoder @param rows that it reads at once
   * @param copies of the sentence that are encoded */
  begin(length: number, slots: number, rows: number, copies = 1): Encoded[] {
    const { kernel, config: { d_model, vocab_size }, encoder, decoder } = this;
    kernel.top = this.start;
    const most = Math.max(length, rows);
    const take = (width: number) => kernel.rows(most, width);
    const [k, v] = [encoder.h * encoder.d_k, encoder.h * encoder.d_v]; // as in the decoder
    this.room = {
      X: take(d_model), Q: take(k), K: take(k), V: take(v), Z: take(v), Y: take(d_model),
      hidden: take(Math.max(encoder.d_ff, decoder.d_ff)),
      scores: kernel.rows(Math.max(length, slots), Math.max(encoder.h, decoder.h)),
      slots: kernel.rows(Math.max(length, slots), 1),
      logits: kernel.rows(LOGIT_ROWS, vocab_size),
    };
    const tables = (count: number) => ({
      keys: Array.from({ length: decoder.N }, () => kernel.rows(count, k)),
      values: Array.from({ length: decoder.N }, () => kernel.rows(count, v)),
    });
    this.self = tables(slots);
    return Array.from({ length: copies }, () => ({ length, ...tables(length) }));
  }

  /** Encode a sentence, `</s>` last, into one of the copies that `begin` made room for.
   * @param pass its `looks` are `[layer, head, key]` */
  encode(
    ids: number[], to: Encoded, edits?: Edits,
    { looks, inputs, earlier }: Pass<Float32Array> = {},
  ): Encoded {
    const { kernel, layers, config: { d_model }, encoder, decoder, room } = this;
    const { X, K, V } = room;
    const { N, h, d_k, d_v } = encoder;
    const count = ids.length;
    const slots = ids.map((_, n) => n);
    // the same in each layer: so many new ones would be garbage at once
    const queries = slots.map((row): Query => (
      { row, keys: K, values: V, slots, looks: looks?.[row] ?? null, edits: undefined }));
    if (earlier) kernel.floats.set(earlier.inputs[earlier.layer], X);
    else ids.forEach((id, n) => this.embed("encoder", id, n, X + n * d_model));
    for (let layer = earlier?.layer ?? 0; layer < N; layer++) {
      const name = `encoder.layers.${layer}`;
      if (inputs) inputs[layer] = kernel.floats.slice(X, X + count * d_model);
      layers.project(`${name}.self_attention`, encoder, room, count);
      const own = edits?.at("encoder_self", layer);
      for (const query of queries) query.edits = own;
      layers.attention(`${name}.self_attention`, layer, encoder, room, queries);
      layers.feedForward(name, encoder, room, count);
    }
    for (let layer = 0; layer < decoder.N; layer++) {
      const name = `decoder.layers.${layer}.cross_attention`;
      layers.linear(`${name}.W_K`, X, count, d_model, h * d_k, to.keys[layer]);
      layers.linear(`${name}.W_V`, X, count, d_model, h * d_v, to.values[layer]);
    }
    return to;
  }

  /** Read rows; `logits` then has what follows each. */
  decode(rows: Row[], { looks, inputs, earlier }: Pass<Looks> = {}) {
    const { kernel, layers, config: { d_model }, decoder, room } = this;
    const { X, Q, K, V } = room;
    const { N, h, d_k, d_v } = decoder;
    const [wide, deep, count] = [h * d_k, h * d_v, rows.length];
    const every = Array.from({ length: rows[0].source.length }, (_, n) => n);
    const queries = (kind: "self" | "cross") => rows.map(({ position, slots }, n): Query => ({
      row: position, keys: 0, values: 0, slots: kind === "self" ? slots : every,
      looks: looks?.[n][kind] ?? null, edits: undefined,
    }));
    const [ofSelf, ofCross] = [queries("self"), queries("cross")];
    if (earlier) {
      const before = earlier.inputs[earlier.layer]; // of the first rows, and of others like them
      for (let at = 0; at < count * d_model; at += before.length) kernel.floats.set(before, X + at);
    } else {
      rows.forEach(({ piece, position }, n) =>
        this.embed("decoder", piece, position, X + n * d_model));
    }
    for (let layer = earlier?.layer ?? 0; layer < N; layer++) {
      const name = `decoder.layers.${layer}`;
      if (inputs) inputs[layer] = kernel.floats.slice(X, X + count * d_model);
      layers.project(`${name}.self_attention`, decoder, room, count);
      const [keys, values] = [this.self.keys[layer], this.self.values[layer]];
      rows.forEach(({ slots, source, edits }, n) => {
        const slot = slots[slots.length - 1];
        kernel.floats.copyWithin(keys + slot * wide, K + n * wide, K + (n + 1) * wide);
        kernel.floats.copyWithin(values + slot * deep, V + n * deep, V + (n + 1) * deep);
        ofSelf[n].keys = keys;
        ofSelf[n].values = values;
        ofSelf[n].edits = edits?.at("decoder_self", layer);
        ofCross[n].keys = source.keys[layer];
        ofCross[n].values = source.values[layer];
        ofCross[n].edits = edits?.at("cross", layer);
      });
      layers.attention(`${name}.self_attention`, layer, decoder, room, ofSelf);
      layers.linear(`${name}.cross_attention.W_Q`, X, count, d_model, wide, Q);
      layers.attention(`${name}.cross_attention`, layer, decoder, room, ofCross);
      layers.feedForward(name, decoder, room, count);
    }
  }

  /** Compute the logits after some rows of the last pass, one after another.
   * @param read gets the number of a row and the first of its logits */
  logits(rows: number, read: (row: number, place: number) => void) {
    const { kernel, weights, config: { d_model, vocab_size }, room: { X, logits } } = this;
    const name = weights.has("own_projection") ? "own_projection" : "shared_embedding";
    const table = weights.matrix(name, [vocab_size, d_model]);
    for (let first = 0; first < rows; first += LOGIT_ROWS) {
      const count = Math.min(LOGIT_ROWS, rows - first);
      kernel.linear(X + first * d_model, count, table, d_model, vocab_size, logits);
      if (weights.has("output_bias")) {
        this.layers.addBias("output_bias", logits, count, vocab_size);
      }
      for (let n = 0; n < count; n++) read(first + n, logits + n * vocab_size);
    }
  }

  /** Embedding · √d_model + position (§3.4, §3.5). */
  private embed(stack: "encoder" | "decoder", piece: number, position: number, to: number) {
    const { kernel: { floats }, weights, config: { d_model, max_length, ...config } } = this;
    const own = stack === "encoder" && weights.has("source_embedding");
    const embedding = weights.row(own ? "source_embedding" : "shared_embedding",
      [own ? config.source_vocab_size as number : config.vocab_size, d_model], piece);
    const scale = config.scale_embedding === false ? 1 : Math.sqrt(d_model);
    const waves = config.positions !== "learned" ? this.wavesOf(position)
      : weights.row(`${stack}.embedding.positions`, [max_length, d_model], position);
    for (let n = 0; n < d_model; n++) floats[to + n] = embedding[n] * scale + waves[n];
  }

  private wavesOf(position: number): Float32Array {
    let waves = this.waves.get(position);
    if (!waves) {
      const { d_model } = this.config;
      waves = Float32Array.from({ length: d_model }, (_, n) => {
        const angle = position / 10_000 ** ((n - n % 2) / d_model);
        return n % 2 ? Math.cos(angle) : Math.sin(angle);
      });
      this.waves.set(position, waves);
    }
    return waves;
  }
}
