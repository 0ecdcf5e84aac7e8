// The layers of the paper, as transformer/attention.py and transformer/layers.py have them:
// attention, feed-forward network, and the norm after each. Places are numbers of a float in the
// kernel's memory.

import type { Edit } from "./edits.ts";
import type { Config, Stack } from "./folder.ts";
import type { Kernel } from "./kernel.ts";
import type { Weights } from "./weights.ts";

const EPSILON = 1e-5; // of LayerNorm in PyTorch

/** Where the rows that are computed at once lie. */
export interface Room {
  X: number; Q: number; K: number; V: number; Z: number; Y: number; hidden: number;
  scores: number; // of one row, `[head, key]`
  slots: number; // that it looks at
}

/** What one row may look at: rows of two tables, in order. */
export interface Query {
  row: number; // its number, by which a given map names it
  keys: number; // the first float of each table
  values: number;
  slots: number[]; // numbers of the tables' rows
  looks: Float32Array | null; // gets what each head of each layer looks at, `[layer, head, key]`
  edits: Edit[] | undefined; // of each head
}

const ACTIVATIONS: Record<Config["activation"], (xs: Float32Array) => void> = {
  relu: (xs) => {
    for (let n = 0; n < xs.length; n++) if (xs[n] < 0) xs[n] = 0;
  },
  swish: (xs) => xs.forEach((x, n) => (xs[n] = x / (1 + Math.exp(-x)))),
  gelu: (xs) => xs.forEach((x, n) => (xs[n] = 0.5 * x * errorComplement(-x * Math.SQRT1_2))),
};

export class Layers {
  declare private kernel: Kernel;
  declare private weights: Weights;
  declare private d_model: number;
  declare private activation: Config["activation"];

  constructor(weights: Weights, { d_model, activation }: Config) {
    Object.assign(this, { kernel: weights.kernel, weights, d_model, activation });
  }

  /** y = x Wᵀ + b, with a bias where the model has one. */
  linear(name: string, x: number, rows: number, inputs: number, outputs: number, y: number) {
    const { kernel, weights } = this;
    const matrix = weights.matrix(`${name}.weight`, [outputs, inputs]);
    kernel.linear(x, rows, matrix, inputs, outputs, y);
    if (weights.has(`${name}.bias`)) this.addBias(`${name}.bias`, y, rows, outputs);
  }

  addBias(name: string, y: number, rows: number, outputs: number) {
    const { kernel: { floats } } = this;
    const bias = this.weights.vector(name, outputs);
    for (let row = 0, at = y; row < rows; row++) {
      for (let n = 0; n < outputs; n++) floats[at++] += bias[n];
    }
  }

  /** x = LayerNorm(x + y) (§5.4). */
  private addAndNorm(name: string, x: number, y: number, rows: number) {
    const { kernel: { floats }, weights, d_model: width } = this;
    const gain = weights.vector(`${name}.norm.weight`, width);
    const bias = weights.vector(`${name}.norm.bias`, width);
    for (let row = 0; row < rows; row++) {
      const [at, from] = [x + row * width, y + row * width];
      let [mean, variance] = [0, 0];
      for (let n = 0; n < width; n++) mean += (floats[at + n] += floats[from + n]);
      mean /= width;
      for (let n = 0; n < width; n++) variance += (floats[at + n] - mean) ** 2;
      const scale = 1 / Math.sqrt(variance / width + EPSILON);
      for (let n = 0; n < width; n++) {
        floats[at + n] = (floats[at + n] - mean) * scale * gain[n] + bias[n];
      }
    }
  }

  /** X = LayerNorm(X + W_2 max(0, W_1 X)) (§3.3), or with another activation. */
  feedForward(name: string, { d_ff }: Stack, { X, Y, hidden }: Room, rows: number) {
    const { kernel: { floats }, d_model } = this;
    this.linear(`${name}.feed_forward.W_1`, X, rows, d_model, d_ff, hidden);
    ACTIVATIONS[this.activation](floats.subarray(hidden, hidden + rows * d_ff));
    this.linear(`${name}.feed_forward.W_2`, hidden, rows, d_ff, d_model, Y);
    this.addAndNorm(`${name}.feed_forward_norm`, X, Y, rows);
  }

  /** Q, K and V = X W^Q, X W^K and X W^V of self-attention. */
  project(name: string, { h, d_k, d_v }: Stack, { X, Q, K, V }: Room, rows: number) {
    this.linear(`${name}.W_Q`, X, rows, this.d_model, h * d_k, Q);
    this.linear(`${name}.W_K`, X, rows, this.d_model, h * d_k, K);
    this.linear(`${name}.W_V`, X, rows, this.d_model, h * d_v, V);
  }

  /** X = LayerNorm(X + Concat(head_1, …) W^O), with the queries in Q (§3.2.2). */
  attention(name: string, layer: number, stack: Stack, room: Room, queries: Query[]) {
    const [wide, deep] = [stack.h * stack.d_k, stack.h * stack.d_v];
    const { X, Q, Z, Y } = room;
    queries.forEach((query, n) =>
      this.attend(layer, stack, room, Q + n * wide, query, Z + n * deep));
    this.linear(`${name}.W_O`, Z, queries.length, deep, this.d_model, Y);
    this.addAndNorm(`${name}_norm`, X, Y, queries.length);
  }

  /** Let one row look with all heads: z = softmax(q Kᵀ / √d_k) V (§3.2.1). */
  private attend(
    layer: number, { h, d_k, d_v }: Stack, { scores, slots: list }: Room, query: number,
    { row, keys, values, slots, looks, edits }: Query, z: number,
  ) {
    const { kernel, kernel: { floats } } = this;
    const count = slots.length;
    const scale = 1 / Math.sqrt(d_k);
    kernel.ints.set(slots, list);
    kernel.scores(query, keys, scores, list, count, h * d_k, d_k, h);
    for (let head = 0, from = scores, to = from + count; head < h; head++, from = to, to += count) {
      const edit = edits?.[head];
      softmax(floats, from, to, scale);
      if (edit?.map && row < edit.map.queries) {
        const { weights, keys: width } = edit.map;
        for (let key = 0; key < count; key++) {
          floats[from + key] = key < width ? weights[row * width + key] : 0;
        }
      }
    }
    looks?.set(floats.subarray(scores, scores + h * count), layer * h * count);
    edits?.forEach((edit, head) => { // not each of them has one
      if (edit?.removed) floats.fill(0, scores + head * count, scores + (head + 1) * count);
    });
    kernel.mix(scores, values, z, list, count, h * d_v, d_v, h);
  }
}

/** In a function of its own, which stays compiled whatever edits come. */
function softmax(floats: Float32Array, from: number, to: number, scale: number) {
  let [most, sum] = [-Infinity, 0];
  for (let at = from; at < to; at++) if (floats[at] > most) most = floats[at];
  for (let at = from; at < to; at++) sum += (floats[at] = Math.exp((floats[at] - most) * scale));
  for (let at = from; at < to; at++) floats[at] /= sum;
}

/** Compute 1 − erf(x), to 1.2e-7 of it (Press et al., Numerical Recipes in C, §6.2). */
function errorComplement(x: number): number {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  const series = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806,
    0.09678418, 0.37409196, 1.00002368, -1.26551223].reduce((sum, term) => sum * t + term);
  const tail = t * Math.exp(-x * x + series);
  return x >= 0 ? tail : 2 - tail;
}
