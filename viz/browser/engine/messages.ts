// What the page and the engine's Worker say to each other.

import type { HeadPlace, Row, Trace } from "../core/trace.ts";

/** Where the model lies: the absolute address of a folder with `model.json`, as `folder.ts` says.
 * Once more after it failed, it goes on with the parts that are not there. */
export interface Load {
  type: "load";
  base: string;
  int8?: boolean; // whether to take the smaller weights, where the folder has them
}

/** Translate; a newer request ends an older one. */
export interface Translate {
  type: "translate";
  turn: number;
  text: string;
  removed: HeadPlace[];
  rows: Row[];
  prefix: string[]; // raw pieces with which the translation begins
}

/** Which heads this sentence needs most: all removed one by one, then the order of removal. Once
 * more, it goes on from where another request ended it. */
export interface Order {
  type: "order";
  turn: number;
  text: string;
  length: number; // places of the order
  seed: number; // of the random heads
}

export type Request = Load | Translate | Order;

export interface Progress { type: "progress"; loaded: number; total: number } // bytes
export interface Live { type: "live"; wasm: boolean }
/** One plain sentence. */
export interface Failed { type: "failed"; turn: number | null; message: string }

export interface Translated {
  type: "translated";
  turn: number;
  trace: Trace;
  unsure: boolean; // whether less than half the words are probable
}

/** Now and then while a translation is searched: its subwords so far, and those of the sentence. */
export interface Writing { type: "writing"; turn: number; count: number; read: number }

/** After an edited translation: log P of that of the whole model, with the same edits. */
export interface Original { type: "original"; turn: number; logProb: number }

export interface Nothing { type: "nothing"; turn: number } // the text is empty

/** Heads without which the model writes its translation least well, in the order of removal, with
 * the change of the log probability after each; `random` has as many others. */
export interface Ordered {
  type: "ordered";
  turn: number;
  heads: { place: HeadPlace; logProb: number }[];
  random: { place: HeadPlace; logProb: number; text: string }[];
  tried: [count: number, most: number]; // heads, for the next place
  done: boolean; // else more places follow
}

export type Answer =
  Progress | Live | Failed | Writing | Translated | Original | Nothing | Ordered;
