// One sentence, run once: what the model read, wrote and held probable, and what every head looked
// at. The engine in the page writes it, and so does Python; every picture is made from it and from
// a few choices. Nothing in it is worded for the screen.

export type Kind = "encoder_self" | "decoder_self" | "cross";
export type HeadPlace = [kind: Kind, layer: number, head: number];

export interface Side {
  text: string;
  pieces: string[]; // raw, `▁` before a word, `</s>` last
  words: number[]; // number of the word of each piece
}

export interface KindTrace {
  kind: Kind;
  layers: number;
  heads: number; // of each layer
  causal: boolean; // whether a query sees no later key
  weights: Float32Array; // `[layer, head, query, key]`
  size?: [query: number, key: number]; // of the weights, where they are those of a beginning
}

export interface Options {
  pieces: string[]; // raw, the most probable first
  p: Float32Array;
  taken: number; // index of the written one
}

export interface Row { place: HeadPlace; row: number; weights: number[] }

export interface Edited {
  removed: HeadPlace[]; // heads that write zeros
  rows: Row[]; // painted rows: what a query of a head looks at instead
  prefix: number; // pieces of the translation that were given, not searched
}

/** A word of the translation and the one of the source that it comes from, by their numbers. */
export interface WordLink { source: number; target: number; strength: number; mutual: boolean }

export interface Trace {
  source: Side;
  target: Side;
  kinds: KindTrace[];
  logProbs: Float32Array; // `[target]`
  options: Options[]; // `[target]`
  beginnings: string[][]; // `[target]`, what the beam kept or finished at each step
  edited: Edited;
  links?: WordLink[]; // where they are not those of the alignment's map of weights
}

/** The map that links words, and its share of wrong links, 0 to 1. */
export interface Alignment {
  layer: number;
  head: number | null; // null for the mean over the layer's heads
  row: "reads" | "writes"; // the row of the decoder that stands for a word
  lens: string; // its name on the screen
  error: number | null;
}

/** What stands beside every trace of one model. */
export interface About {
  languages: { code: string; name: string }[]; // source, target
  madeBy: string; // the model and its checksum, for captions
  alignment: Alignment | null;
  // over the corpus, as the screen names them, `[layer][head]`; "" for none
  roles: Partial<Record<Kind, string[][]>>;
}

const LARGEST = 65_535; // a weight of 1 in 16 bits

/** Read weights, of which a long sentence has 16 bits. */
export const readWeights = (weights: Float32Array | Uint16Array) =>
  (weights instanceof Float32Array ? weights
    : Float32Array.from(weights, (steps) => steps / LARGEST));

/** Read a trace as viz/draw/trace_message.py writes it: with the probabilities of all options in a
 * row, and weights of a long sentence in 16 bits. */
export function readTrace({ p, ...message }: any): Trace {
  let end = 0;
  const options = message.options.map(({ pieces, taken }: Options): Options =>
    ({ pieces, taken, p: p.subarray(end, end += pieces.length) }));
  const kinds = message.kinds.map(({ weights, ...kind }: any) => ({
    ...kind, weights: readWeights(weights),
  }));
  return { ...message, options, kinds };
}
