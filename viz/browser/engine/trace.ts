// The trace of a translation, read from its search: every row that the decoder read has what it
// looked at and what it held probable.

import type { HeadPlace, Options, Row, Side, Trace } from "../core/trace.ts";
import type { Model } from "./model.ts";
import { chainOf, type Prefix, type SearchResult } from "./search.ts";
import { SPECIAL, type Token, type Tokenizer } from "./tokenizer.ts";
import { numberWords, PLACEHOLDER } from "./words.ts";

const SHOWN = 5; // most probable next pieces

export interface Edited { removed: HeadPlace[]; rows: Row[]; prefix: number }

/** @param source the pieces that were read, `</s>` last @param target of what was written */
export function traceOf(
  model: Model, text: string, source: Token[], target: Tokenizer, result: SearchResult,
  edited: Edited,
): Trace {
  const { encoder, decoder } = model;
  const chain = chainOf(result.best);
  const written = chain.map(({ piece }) => piece);
  const looks = chain.map(({ parent }) => parent?.looks);
  const [m, n] = [chain.length, source.length];
  // all maps are copies: the page takes over what it is sent
  const maps = (kind: "self" | "cross", keys: number) => {
    const weights = new Float32Array(decoder.N * decoder.h * m * keys);
    looks.forEach((look, query) => look?.[kind].forEach((heads, layer) => {
      const seen = heads.length / decoder.h;
      for (let head = 0; head < decoder.h; head++) {
        const row = ((layer * decoder.h + head) * m + query) * keys;
        weights.set(heads.subarray(head * seen, (head + 1) * seen), row);
      }
    }));
    return { layers: decoder.N, heads: decoder.h, weights };
  };
  const own = { layers: encoder.N, heads: encoder.h, weights: result.encoded.weights.slice() };
  return {
    source: sideOf(text, source),
    target: sideOf(target.decode(written), written.map((id) => target.token(id))),
    kinds: [
      { kind: "encoder_self", causal: false, ...own },
      { kind: "decoder_self", causal: true, ...maps("self", m) },
      { kind: "cross", causal: false, ...maps("cross", n) },
    ],
    logProbs: Float32Array.from(chain, ({ logProb }) => logProb),
    options: chain.map((prefix) => optionsOf(target, prefix)),
    beginnings: beginningsOf(target, result.prefixes, m),
    edited,
  };
}

/** List what a message can hand over instead of a copy. */
export const buffersOf = ({ kinds }: Trace) => kinds.map(({ weights }) => weights.buffer);

function sideOf(text: string, tokens: Token[]): Side {
  const typed = tokens.map(({ id, text: piece }) =>
    (SPECIAL[id] ? PLACEHOLDER : piece.replaceAll("▁", " ")));
  return { text, pieces: tokens.map((token) => token.text), words: numberWords(typed) };
}

/** List the most probable pieces of a step, the written one among them. */
function optionsOf(target: Tokenizer, { parent, piece, logProb }: Prefix): Options {
  const best = (parent?.options ?? []).slice(0, SHOWN);
  if (!best.some((option) => option.piece === piece)) {
    best.splice(SHOWN - 1, 1, { piece, logProb }); // a forced one may be less probable than all
  }
  return {
    pieces: best.map((option) => target.token(option.piece).text),
    p: Float32Array.from(best, (option) => Math.exp(option.logProb)),
    taken: best.findIndex((option) => option.piece === piece),
  };
}

/** List the texts that the beam kept or finished at each step. */
function beginningsOf(target: Tokenizer, prefixes: Prefix[], steps: number): string[][] {
  const beginnings: string[][] = Array.from({ length: steps }, () => []);
  for (const prefix of prefixes) {
    beginnings[prefix.length - 1]?.push(target.decode(chainOf(prefix).map(({ piece }) => piece)));
  }
  return beginnings;
}
