// A model's folder as a site serves it, and checkpoints to make one of: the format's second writer
// beside Python's.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Engine } from "../../viz/browser/engine/engine.ts";
import type { Config, Folder, Stored, Tensor } from "../../viz/browser/engine/folder.ts";
import { Kernel } from "../../viz/browser/engine/kernel.ts";
import { Model } from "../../viz/browser/engine/model.ts";
import { Tokenizer } from "../../viz/browser/engine/tokenizer.ts";
import { Weights } from "../../viz/browser/engine/weights.ts";

export interface Checkpoint {
  header: Record<string, Tensor>;
  data: Buffer;
  config: Config;
  tokenizers: Uint8Array[];
}

/** Read a folder with model.safetensors, config.json and tokenizer.model. */
export function readCheckpoint(folder: string): Checkpoint {
  const file = readFileSync(join(folder, "model.safetensors"));
  const length = Number(file.readBigUInt64LE());
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const names = [...(config.source_vocab_size ? ["source.model"] : []), "tokenizer.model"];
  return {
    config, header: JSON.parse(file.subarray(8, 8 + length).toString()),
    data: file.subarray(8 + length),
    tokenizers: names.map((name) => readFileSync(join(folder, name))),
  };
}

/** Cut numbers of one width into planes, the highest byte first. */
function planes(data: Uint8Array, width: 1 | 2 | 4, start = 0) {
  return Array.from({ length: width }, (_, n) => width - 1 - n).map((plane) => {
    const content = new Uint8Array(data.length / width);
    for (let n = 0; n < content.length; n++) content[n] = data[n * width + plane];
    return { content, start, width, plane };
  });
}

const isWide = ({ header }: Checkpoint) =>
  Object.values(header).some(({ dtype }) => dtype === "F32");

/** Make an engine without a page. */
export async function engineOf(checkpoint: Checkpoint, plain = false): Promise<Engine> {
  const { header, data, config, tokenizers } = checkpoint;
  const weights = new Weights(await Kernel.make(plain), header);
  for (const { content, ...part } of planes(data, isWide(checkpoint) ? 4 : 2)) {
    weights.put({ name: "", bytes: 0, ...part }, content);
  }
  return new Engine(new Model(weights, config), tokenizers.map((file) => new Tokenizer(file)));
}

/** Write a folder, as its files by name. @param size of a part before it is packed */
export function write(checkpoint: Checkpoint, name: string, size: number): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const put = (file: string, content: Uint8Array) => {
    const packed = gzipSync(content);
    files.set(file, packed);
    return { name: file, bytes: packed.length };
  };
  const parts = (set: string, ...regions: ReturnType<typeof planes>) => regions.flatMap(
    ({ content, start, width, plane }) => Array.from(
      { length: Math.ceil(content.length / size) }, (_, n) => ({
        ...put(`${set}-${width}-${plane}-${n}.bin`, content.subarray(n * size, (n + 1) * size)),
        start: start + n * size, width, plane,
      }),
    ),
  );
  const small = inInt8(checkpoint);
  const folder: Folder = {
    name, config: checkpoint.config, header: checkpoint.header,
    parts: parts("weights", ...planes(checkpoint.data, isWide(checkpoint) ? 4 : 2)),
    int8: {
      header: small.header, parts: parts("int8", ...planes(small.rows, 1),
        ...planes(small.others, 4, small.rows.length)),
    } as Stored,
    tokenizers: checkpoint.tokenizers.map((file, n) => put(`tokenizer-${n}.bin`, file)),
  };
  files.set("model.json", new TextEncoder().encode(JSON.stringify(folder)));
  return files;
}

/** Round each row of each matrix to 127 steps on both sides of 0. */
function inInt8({ header, data }: Checkpoint) {
  const rows: number[] = [];
  const others: number[] = [];
  const tensors: [name: string, shape: number[], dtype: "I8" | "F32"][] = [];
  const entries = Object.entries(header).filter(([name]) => name !== "__metadata__");
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of entries) {
    const bytes = data.subarray(from, to);
    const values = dtype === "F32"
      ? Array.from({ length: bytes.length / 4 }, (_, n) => bytes.readFloatLE(4 * n))
      : Array.from({ length: bytes.length / 2 }, (_, n) => {
        const word = Buffer.from([0, 0, bytes[2 * n], bytes[2 * n + 1]]);
        return word.readFloatLE();
      });
    if (shape.length < 2) {
      tensors.push([name, shape, "F32"]);
      others.push(...values);
      continue;
    }
    tensors.push([name, shape, "I8"], [`${name}.scale`, [shape[0]], "F32"]);
    for (let row = 0; row < shape[0]; row++) {
      const own = values.slice(row * shape[1], (row + 1) * shape[1]);
      const scale = Math.max(...own.map(Math.abs)) / 127 || 1;
      others.push(scale);
      rows.push(...own.map((value) => Math.round(value / scale)));
    }
  }
  const sorted = [...tensors.filter(([, , dtype]) => dtype === "I8"),
    ...tensors.filter(([, , dtype]) => dtype === "F32")];
  let at = 0;
  const small: Record<string, Tensor> = {};
  for (const [name, shape, dtype] of sorted) {
    const size = shape.reduce((a, b) => a * b, 1) * (dtype === "I8" ? 1 : 4);
    small[name] = { dtype, shape, data_offsets: [at, at + size] };
    at += size;
  }
  return {
    header: small, rows: new Uint8Array(Int8Array.from(rows).buffer),
    others: new Uint8Array(Float32Array.from(others).buffer),
  };
}

const varint = (value: number): number[] =>
  (value < 128 ? [value] : [value & 127 | 128, ...varint(value >> 7)]);
const sized = (field: number, bytes: ArrayLike<number>) =>
  [...varint(8 * field + 2), ...varint(bytes.length), ...Array.from(bytes)];
const float = (field: number, value: number) =>
  [8 * field + 5, ...new Uint8Array(Float32Array.of(value).buffer)];

const UNIGRAM = 1;

/** Write a SentencePiece model. @param pieces after the four special ones, with their scores */
export function tokenizerOf(
  pieces: [text: string, score: number][], type = UNIGRAM, pad = "<pad>",
): Uint8Array {
  const bytes = new TextEncoder();
  const special: [string, number, number][] = [[pad, 0, 3], ["<unk>", 0, 2], ["<s>", 0, 3],
    ["</s>", 0, 3]];
  return Uint8Array.from([
    ...[...special, ...pieces.map(([text, score]) => [text, score, 1] as const)].flatMap(
      ([text, score, kind]) => sized(1, [
        ...sized(1, bytes.encode(text)), ...float(2, score), 24, kind,
      ])),
    ...sized(2, [24, type]),
  ]);
}

export const TINY: Config = {
  vocab_size: 12, N: 2, d_model: 8, d_ff: 12, h: 2, d_k: 4, d_v: 4, positions: "sinusoidal",
  max_length: 512, activation: "relu",
};

/** Make a checkpoint of random weights, whose letters are a to h. */
export function tinyCheckpoint(config = TINY): Checkpoint {
  const { vocab_size, N, d_model, d_ff, h, d_k, d_v } = config;
  const shapes: [name: string, shape: number[]][] = [["shared_embedding", [vocab_size, d_model]]];
  for (const [stack, kinds] of [["encoder", ["self"]], ["decoder", ["self", "cross"]]] as const) {
    for (let layer = 0; layer < N; layer++) {
      const name = `${stack}.layers.${layer}`;
      for (const kind of kinds) {
        const attention = `${name}.${kind}_attention`;
        shapes.push([`${attention}.W_Q.weight`, [h * d_k, d_model]],
          [`${attention}.W_K.weight`, [h * d_k, d_model]],
          [`${attention}.W_V.weight`, [h * d_v, d_model]],
          [`${attention}.W_O.weight`, [d_model, h * d_v]],
          [`${attention}_norm.norm.weight`, [d_model]], [`${attention}_norm.norm.bias`, [d_model]]);
      }
      shapes.push([`${name}.feed_forward.W_1.weight`, [d_ff, d_model]],
        [`${name}.feed_forward.W_1.bias`, [d_ff]],
        [`${name}.feed_forward.W_2.weight`, [d_model, d_ff]],
        [`${name}.feed_forward.W_2.bias`, [d_model]],
        [`${name}.feed_forward_norm.norm.weight`, [d_model]],
        [`${name}.feed_forward_norm.norm.bias`, [d_model]]);
    }
  }
  const header: Record<string, Tensor> = {};
  let at = 0;
  for (const [name, shape] of shapes) {
    const size = 4 * shape.reduce((a, b) => a * b, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [at, at + size] };
    at += size;
  }
  // the same numbers each time, from -1 to 1
  const data = Float32Array.from({ length: at / 4 }, (_, n) => Math.sin(12.9898 * n * n + n));
  return {
    header, data: Buffer.from(data.buffer), config,
    tokenizers: [tokenizerOf([..."abcdefgh"].map((letter) => [letter, -1]))],
  };
}
