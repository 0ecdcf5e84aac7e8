// The folder of a model as a site serves it:
//
//     model.json   name, config and tokenizers, and the weights: once as they are, once in int8
//     parts        files of some two megabytes, each a gzip member of its own, so that each can be
//                  checked, kept and fetched once more by itself. No name ends in .gz: some hosts
//                  unpack such a file on the way.
//
// The weights are a safetensors file cut into planes: first the highest byte of every number, then
// the next lower one. The low bytes of a bfloat16 hardly shrink, the high ones by more than half.
// Numbers count from 0 over the whole file in the order of `data_offsets`.

export interface Tensor {
  dtype: "BF16" | "F32" | "I8"; // a float16 is stored as float32
  shape: number[];
  data_offsets: [from: number, to: number];
}

export interface Part {
  name: string; // of the file in the folder
  bytes: number; // of the file
}

export interface WeightPart extends Part {
  start: number; // number to which the first byte belongs
  width: 1 | 2 | 4; // bytes of each number
  plane: number; // which of them it has, 0 the lowest
}

/** Weights by their names in PyTorch. In int8 a matrix is `I8` with a factor for each row in
 * `NAME.scale`, `F32` of shape `[rows]`, and each vector `F32`. */
export interface Stored {
  header: Record<string, Tensor>; // may have `__metadata__` too
  parts: WeightPart[]; // in the order in which they are fetched
}

/** Token ids of the four special pieces; every tokenizer of ours is made with them. */
export const [PAD, UNK, BOS, EOS] = [0, 1, 2, 3];

/** As `transformer/config.py` says; a field that is not there has its default. */
export interface Config {
  vocab_size: number;
  N: number;
  d_model: number;
  d_ff: number;
  h: number;
  d_k: number;
  d_v: number;
  positions: "sinusoidal" | "learned";
  max_length: number;
  activation: "relu" | "swish" | "gelu";
  source_vocab_size?: number | null;
  decoder_N?: number | null;
  decoder_d_ff?: number | null;
  decoder_h?: number | null;
  scale_embedding?: boolean;
}

export interface Folder extends Stored {
  name: string; // another one for another model: the browser keeps the parts under it
  config: Config;
  tokenizers: Part[]; // `tokenizer.model` of both languages, or of the source and of the target
  int8?: Stored;
}

/** A sentence about a model, or about what it is to read, for the person who uses the page. */
export class EngineError extends Error {}

/** What one stack of layers is made of. */
export interface Stack { N: number; h: number; d_k: number; d_v: number; d_ff: number }

export function stacksOf(config: Config): { encoder: Stack; decoder: Stack } {
  const { N, h, d_k, d_v, d_ff } = config;
  const heads = config.decoder_h ?? h;
  return {
    encoder: { N, h, d_k, d_v, d_ff },
    decoder: {
      N: config.decoder_N ?? N, h: heads, d_k: h * d_k / heads, d_v: h * d_v / heads,
      d_ff: config.decoder_d_ff ?? d_ff,
    },
  };
}
