// The encoder-decoder (§3.1). The encoder reads a sentence once, the decoder any number of rows: a
// row is one piece at one position, with the slots of all pieces before it. So a step of a search,
// a forced prefix and a whole translation are the same to it, and no cache is ever moved.

import type { Edits } from "./edits.ts";
import { type Config, EngineError, type Stack, stacksOf } from "./folder.ts";
import type { Kernel } from "./kernel.ts";
import { Layers } from "./layers.ts";
import type { Weights } from "./weights.ts";

const LOGIT_ROWS = 4; // as many as the kernel multiplies at once

export interface Row {
  piece: number;
  position: number;
  slots: number[]; // of the pieces before it, then its own
}

/** What every head looks at from one row, `[layer][head, key]`. */
export interface Looks { self: Float32Array[]; cross: Float32Array[] }

/** A sentence as the decoder sees it. */
export interface Encoded {
  length: number;
  weights: Float32Array; // `[layer, head, query, key]` of the encoder
  keys: number[]; // first float of the table of each layer of the decoder
  values: number[];
}

/** What each layer read in an earlier pass: with other edits in later layers it reads the same. */
export interface Earlier {
  layer: number; // the first one that is computed anew
  inputs: Float32Array[];
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
  private room = { X: 0, Q: 0, K: 0, V: 0, Z: 0, Y: 0, hidden: 0, logits: 0 };
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
      logits: kernel.rows(LOGIT_ROWS, vocab_size),
    };
    const tables = (count: number) => ({
      keys: Array.from({ length: decoder.N }, () => kernel.rows(count, k)),
      values: Array.from({ length: decoder.N }, () => kernel.rows(count, v)),
    });
    this.self = tables(slots);
    const weights = new Float32Array(0);
    return Array.from({ length: copies }, () => ({ length, weights, ...tables(length) }));
  }

  /** Encode a sentence, `</s>` last, into one of the copies that `begin` made room for.
   * @param inputs gets what each layer reads */
  encode(
    ids: number[], to: Encoded, edits?: Edits, inputs?: Float32Array[], earlier?: Earlier,
  ): Encoded {
    const { kernel, layers, config: { d_model }, encoder, decoder } = this;
    const { X, Q, K, V, Z, Y, hidden } = this.room;
    const { N, h } = encoder;
    const [wide, deep, count] = [h * encoder.d_k, h * encoder.d_v, ids.length];
    const seen = { keys: K, values: V, slots: ids.map((_, n) => n) };
    const weights = new Float32Array(N * h * count * count);
    const looks = new Float32Array(h * count);
    if (earlier) kernel.floats.set(earlier.inputs[earlier.layer], X);
    else ids.forEach((id, n) => this.embed("encoder", id, n, X + n * d_model));
    for (let layer = earlier?.layer ?? 0; layer < N; layer++) {
      const name = `encoder.layers.${layer}`;
      if (inputs) inputs[layer] = kernel.floats.slice(X, X + count * d_model);
      layers.linear(`${name}.self_attention.W_Q`, X, count, d_model, wide, Q);
      layers.linear(`${name}.self_attention.W_K`, X, count, d_model, wide, K);
      layers.linear(`${name}.self_attention.W_V`, X, count, d_model, deep, V);
      const own = edits?.at("encoder_self", layer);
      for (let n = 0; n < count; n++) {
        layers.attend(encoder, Q + n * wide, seen, Z + n * deep, n, own, looks);
        for (let head = 0; head < h; head++) {
          const row = looks.subarray(head * count, (head + 1) * count);
          weights.set(row, ((layer * h + head) * count + n) * count);
        }
      }
      layers.linear(`${name}.self_attention.W_O`, Z, count, deep, d_model, Y);
      layers.addAndNorm(`${name}.self_attention_norm`, X, Y, count);
      layers.feedForward(name, X, count, encoder.d_ff, hidden, Y);
    }
    for (let layer = 0; layer < decoder.N; layer++) {
      const name = `decoder.layers.${layer}.cross_attention`;
      const { h: heads, d_k, d_v } = decoder;
      layers.linear(`${name}.W_K`, X, count, d_model, heads * d_k, to.keys[layer]);
      layers.linear(`${name}.W_V`, X, count, d_model, heads * d_v, to.values[layer]);
    }
    return Object.assign(to, { weights });
  }

  /** Read rows; `logits` then has what follows each. @param looks gets what each row looks at
   * @param inputs gets what each layer reads */
  decode(
    source: Encoded, rows: Row[], edits?: Edits, looks?: Looks[], inputs?: Float32Array[],
    earlier?: Earlier,
  ) {
    const { kernel, layers, config: { d_model }, decoder } = this;
    const { X, Q, K, V, Z, Y, hidden } = this.room;
    const { N, h, d_ff } = decoder;
    const [wide, deep, count] = [h * decoder.d_k, h * decoder.d_v, rows.length];
    const every = Array.from({ length: source.length }, (_, n) => n);
    if (earlier) kernel.floats.set(earlier.inputs[earlier.layer], X);
    else {
      rows.forEach(({ piece, position }, n) =>
        this.embed("decoder", piece, position, X + n * d_model));
    }
    for (let layer = earlier?.layer ?? 0; layer < N; layer++) {
      const name = `decoder.layers.${layer}`;
      if (inputs) inputs[layer] = kernel.floats.slice(X, X + count * d_model);
      layers.linear(`${name}.self_attention.W_Q`, X, count, d_model, wide, Q);
      layers.linear(`${name}.self_attention.W_K`, X, count, d_model, wide, K);
      layers.linear(`${name}.self_attention.W_V`, X, count, d_model, deep, V);
      const [keys, values] = [this.self.keys[layer], this.self.values[layer]];
      rows.forEach(({ slots }, n) => {
        const slot = slots[slots.length - 1];
        kernel.floats.copyWithin(keys + slot * wide, K + n * wide, K + (n + 1) * wide);
        kernel.floats.copyWithin(values + slot * deep, V + n * deep, V + (n + 1) * deep);
      });
      const own = edits?.at("decoder_self", layer);
      rows.forEach(({ slots, position }, n) => {
        const save = looks ? (looks[n].self[layer] = new Float32Array(h * slots.length)) : null;
        const seen = { keys, values, slots };
        layers.attend(decoder, Q + n * wide, seen, Z + n * deep, position, own, save);
      });
      layers.linear(`${name}.self_attention.W_O`, Z, count, deep, d_model, Y);
      layers.addAndNorm(`${name}.self_attention_norm`, X, Y, count);
      layers.linear(`${name}.cross_attention.W_Q`, X, count, d_model, wide, Q);
      const cross = edits?.at("cross", layer);
      const seen = { keys: source.keys[layer], values: source.values[layer], slots: every };
      rows.forEach(({ position }, n) => {
        const save = looks ? (looks[n].cross[layer] = new Float32Array(h * source.length)) : null;
        layers.attend(decoder, Q + n * wide, seen, Z + n * deep, position, cross, save);
      });
      layers.linear(`${name}.cross_attention.W_O`, Z, count, deep, d_model, Y);
      layers.addAndNorm(`${name}.cross_attention_norm`, X, Y, count);
      layers.feedForward(name, X, count, d_ff, hidden, Y);
    }
  }

  /** Compute the logits after some rows of the last pass, one after another.
   * @param read gets the number of a row and the first of its logits */
  logits(rows: number, read: (row: number, place: number) => void) {
    const { kernel, weights, config: { d_model, vocab_size }, room: { X, logits } } = this;
    const name = weights.has("own_projection") ? "own_projection" : "shared_embedding";
    const table = weights.place(name, [vocab_size, d_model]);
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
    const table = weights.place(own ? "source_embedding" : "shared_embedding",
      [own ? config.source_vocab_size as number : config.vocab_size, d_model]);
    const scale = config.scale_embedding === false ? 1 : Math.sqrt(d_model);
    let [waves, at] = [floats, 0];
    if (config.positions === "learned") {
      at = weights.place(`${stack}.embedding.positions`, [max_length, d_model])
        + position * d_model;
    } else waves = this.wavesOf(position);
    for (let n = 0; n < d_model; n++) {
      floats[to + n] = floats[table + piece * d_model + n] * scale + waves[at + n];
    }
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
