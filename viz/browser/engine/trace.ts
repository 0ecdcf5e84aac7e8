// The trace of a translation, read from its search: every row that the decoder read has what it
// looked at and what it held probable.

import type { HeadPlace, Options, Row, Side, Trace } from "../core/trace.ts";
import type { Stack } from "./folder.ts";
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
  const maps = ({ N, h }: Stack, rows: (Float32Array | undefined)[], keys: number) => {
    const weights = new Float32Array(N * h * rows.length * keys);
    rows.forEach((row = new Float32Array(), query) => {
      const seen = row.length / (N * h);
      for (let head = 0; head < N * h; head++) {
        const at = (head * rows.length + query) * keys;
        for (let key = 0; key < seen; key++) weights[at + key] = row[head * seen + key];
      }
    });
    return { layers: N, heads: h, weights };
  };
  return {
    source: sideOf(text, source),
    target: sideOf(target.decode(written), written.map((id) => target.token(id))),
    kinds: [
      { kind: "encoder_self", causal: false, ...maps(encoder, result.read, n) },
      { kind: "decoder_self", causal: true, ...maps(decoder, looks.map((row) => row?.self), m) },
      { kind: "cross", causal: false, ...maps(decoder, looks.map((row) => row?.cross), n) },
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
