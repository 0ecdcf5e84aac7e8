// The layers of the paper, as transformer/attention.py and transformer/layers.py have them:
// attention, feed-forward network, and the norm after each. Places are numbers of a float in the
// kernel's memory.

import type { Edit } from "./edits.ts";
import type { Config, Stack } from "./folder.ts";
import type { Kernel } from "./kernel.ts";
import type { Weights } from "./weights.ts";

const EPSILON = 1e-5; // of LayerNorm in PyTorch

/** What one query may look at: rows of two tables, in order. */
export interface Seen {
  keys: number; // the first float of each table
  values: number;
  slots: ArrayLike<number>; // numbers of its rows
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
  private scores = new Float32Array(64);

  constructor(weights: Weights, { d_model, activation }: Config) {
    Object.assign(this, { kernel: weights.kernel, weights, d_model, activation });
  }

  /** y = x Wᵀ + b, with a bias where the model has one. */
  linear(name: string, x: number, rows: number, inputs: number, outputs: number, y: number) {
    const { kernel, weights } = this;
    const matrix = weights.place(`${name}.weight`, [outputs, inputs]);
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
  addAndNorm(name: string, x: number, y: number, rows: number) {
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

  /** x = LayerNorm(x + W_2 max(0, W_1 x)) (§3.3), or with another activation. */
  feedForward(name: string, x: number, rows: number, d_ff: number, hidden: number, y: number) {
    const { kernel: { floats }, d_model } = this;
    this.linear(`${name}.feed_forward.W_1`, x, rows, d_model, d_ff, hidden);
    ACTIVATIONS[this.activation](floats.subarray(hidden, hidden + rows * d_ff));
    this.linear(`${name}.feed_forward.W_2`, hidden, rows, d_ff, d_model, y);
    this.addAndNorm(`${name}.feed_forward_norm`, x, y, rows);
  }

  /** Let one query look with all heads: softmax(q Kᵀ / √d_k) V (§3.2).
   * @param row number of the query, by which a given map names it
   * @param looks gets what each head looks at, `[head, key]` */
  attend(
    { h, d_k, d_v }: Stack, query: number, { keys, values, slots }: Seen, z: number, row: number,
    edits: Edit[] | undefined, looks: Float32Array | null,
  ) {
    const { kernel: { floats } } = this;
    const count = slots.length;
    if (this.scores.length < count) this.scores = new Float32Array(2 * count);
    const { scores } = this;
    const scale = 1 / Math.sqrt(d_k);
    for (let head = 0; head < h; head++) {
      const q = query + head * d_k;
      let most = -Infinity;
      for (let key = 0; key < count; key++) {
        const k = keys + (slots[key] * h + head) * d_k;
        let score = 0;
        for (let n = 0; n < d_k; n++) score += floats[q + n] * floats[k + n];
        scores[key] = score * scale;
        if (scores[key] > most) most = scores[key];
      }
      let sum = 0;
      for (let key = 0; key < count; key++) sum += (scores[key] = Math.exp(scores[key] - most));
      for (let key = 0; key < count; key++) scores[key] /= sum;
      const edit = edits?.[head];
      if (edit?.map && row < edit.map.queries) {
        const { map } = edit;
        for (let key = 0; key < count; key++) {
          scores[key] = key < map.keys ? map.weights[row * map.keys + key] : 0;
        }
      }
      looks?.set(scores.subarray(0, count), head * count);
      const to = z + head * d_v;
      floats.fill(0, to, to + d_v);
      if (edit?.removed) continue;
      for (let key = 0; key < count; key++) {
        const weight = scores[key];
        const v = values + (slots[key] * h + head) * d_v;
        for (let n = 0; n < d_v; n++) floats[to + n] += weight * floats[v + n];
      }
    }
  }
}

/** Compute 1 − erf(x), to 1.2e-7 of it (Press et al., Numerical Recipes in C, §6.2). */
function errorComplement(x: number): number {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  const series = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806,
    0.09678418, 0.37409196, 1.00002368, -1.26551223].reduce((sum, term) => sum * t + term);
  const tail = t * Math.exp(-x * x + series);
  return x >= 0 ? tail : 2 - tail;
}
