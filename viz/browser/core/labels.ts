// Labels of kinds, heads, axes and pieces on the screen, as viz/draw/labels.py has them for what
// Python draws: a test holds both equal.

import { quote } from "./text.ts";
import type { About, HeadPlace, Kind, KindTrace, Side, Trace } from "./trace.ts";

export const KIND_TITLES: Record<Kind, string> = {
  encoder_self: "encoder self-attention", decoder_self: "decoder self-attention",
  cross: "cross-attention",
};

export const SCREEN_NAMES: Record<Kind, string> = {
  encoder_self: "encoder", decoder_self: "decoder", cross: "cross-attention",
};

export type RowName = "reads" | "writes"; // the token by which a row of the decoder is named

const ROW_NAMES: Record<RowName, string> = {
  reads: "last word read", writes: "next word predicted",
};

const LOOKS_SPECIAL = new RegExp("^(?:</?(?:s|pad|bos|eos|cls|sep|start_of_turn|end_of_turn)>"
  + "|\\[(?:CLS|SEP|PAD|BOS|EOS)\\]|<\\|[^|\\s]+\\|>|>>[^<>\\s]*<<"
  + "|[a-z]{2,3}_(?:[A-Z]{2}|[A-Z][a-z]{3})|__[a-z]{2,3}__|<2[a-z_]+>)$");
const UNKNOWN = "<unk>"; // stands for a text, but is written as it is
const READ_ALOUD = new Set("#%&*@§¶†‡‰‱٪؉؊"); // punctuation to Unicode, and words to a reader
const WITHOUT_TEXT = /[ ▁↵⇥\u2400-\u2421]/;

export const looksSpecial = (token: string) => LOOKS_SPECIAL.test(token);

/** Test whether a piece is punctuation or white space alone. */
export const isPunctuation = (text: string) => [...text.normalize("NFKC")].every((letter) =>
  WITHOUT_TEXT.test(letter) || (/[\p{P}\p{Z}\p{C}]/u.test(letter) && !READ_ALOUD.has(letter)));

export const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const counted = (count: number, thing: string) =>
  `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

export const headName = (layer: number, head: number) => `L${layer + 1} H${head + 1}`;

/** Write the tokens of an axis: a piece that goes on with a word gets a mark, `·es`, and the others
 * lose their `▁`; an axis without any `▁` holds whole words. */
export function displayTokens(tokens: string[]) {
  const arePieces = tokens.some((token) => token.startsWith("▁"));
  return tokens.map((token) => {
    if (token === UNKNOWN || looksSpecial(token)) return token;
    const text = token.replace(/^▁/, "").replaceAll("▁", " ");
    if (!text.trim()) return "␣";
    const goesOn = arePieces && !token.startsWith("▁") && /[\p{L}\p{N}]|^\p{M}/u.test(text);
    return goesOn ? `·${text}` : text;
  });
}

/** List the words of a sentence as typed, by number, without the final `</s>`. */
export function wordTexts({ pieces, words }: Side) {
  const texts: string[] = [];
  pieces.forEach((piece, n) => {
    if (piece !== "</s>") texts[words[n]] = (texts[words[n]] ?? "") + piece;
  });
  return texts.map((text) => text.replaceAll("▁", " ").trim() || "␣");
}

export const isRemoved = ({ edited: { removed } }: Trace, place: HeadPlace) =>
  removed.some((other) => String(other) === String(place));

export const readsOf = ({ target: { pieces } }: Trace) => ["<s>", ...pieces.slice(0, -1)];

/** List the pieces along the axes of a kind. */
export function axesOf(trace: Trace, kind: Kind): [queries: string[], keys: string[]] {
  const { source: { pieces: read }, target: { pieces: written } } = trace;
  if (kind === "cross") return [written, read];
  return kind === "encoder_self" ? [read, read] : [readsOf(trace), readsOf(trace)];
}

/** Name the axes of a map. @param row what names a row of the decoder, unless it is the usual
 * @param alone whether there is one sentence */
export function axisTitles(
  kind: Kind, [source, target]: string[],
  row: RowName = kind === "cross" ? "writes" : "reads", alone = false,
) {
  if (alone && kind !== "cross") {
    return { rows: "The position that looks", columns: "Where it looks" };
  }
  const where = `${source}: where it looks`;
  if (kind === "encoder_self") {
    return { rows: `${source}: the position that looks`, columns: where };
  }
  return {
    rows: `${target}: ${ROW_NAMES[row]}`,
    columns: kind === "cross" ? where : `${target} read so far: where it looks`,
  };
}

/** Describe each row of the decoder. */
export function decoderRows(reads: string[], writes: string[]) {
  const texts = displayTokens([...reads, ...writes]).map(quote);
  return reads.map((_, n) => `reads ${texts[n]} and predicts ${texts[reads.length + n]}`);
}

/** What stands along the axes of a map, as `MapAxes` of viz/draw/attention_map.py has it, with
 * tokens as the tokenizer has them. */
export interface MapAxes {
  kind: Kind;
  languages: string[]; // source, target
  queries: string[];
  keys: string[];
  reads: string[] | null; // what the decoder reads where the queries are what it writes
  writes: string[] | null; // and the reverse
  causal: boolean; // whether a query sees no later key
  alone: boolean; // there is one sentence
  byRead: boolean; // a row of `cross` is named by what the decoder reads
}

export const mapAxes = (
  trace: Trace, { kind, causal }: Pick<KindTrace, "kind" | "causal">, { languages }: About,
): MapAxes => {
  const [queries, keys] = axesOf(trace, kind);
  return {
    kind, causal, queries, keys, languages: languages.map(({ name }) => name),
    reads: kind === "cross" ? readsOf(trace) : null,
    writes: kind === "decoder_self" ? trace.target.pieces : null, alone: false, byRead: false,
  };
};

/** Word what stands along the axes: the decoder's rows have two names where both are known. */
export function worded(
  { kind, causal, languages, queries, keys, reads, writes, alone, byRead }: MapAxes,
) {
  const names = languages.map(capitalised);
  const row = byRead || writes ? "reads" : reads ? "writes" : undefined;
  const sides = reads || writes ? [reads ?? queries, writes ?? queries] : null;
  return {
    kind, causal, ...axisTitles(kind, names, row, alone),
    queries: displayTokens(queries), keys: displayTokens(keys),
    rowNames: sides && decoderRows(sides[0], sides[1]), // of each query
    both: sides && {
      titles: (["reads", "writes"] as const).map((side) => axisTitles(kind, names, side).rows),
      reads: displayTokens(sides[0]), writes: displayTokens(sides[1]),
    },
  };
}

export type Worded = ReturnType<typeof worded>;

export const languagesOf = ({ languages }: About) =>
  languages.map(({ name }) => capitalised(name)) as [source: string, target: string];

/** Write what a picture was made from, for the file that is saved of it. */
export const captionOf = ({ source, target }: Trace, { madeBy }: About, ...parts: string[]) => [
  [source, target].filter(({ text }) => text).map(({ text }) => quote(text)).join(" → "),
  ...parts, `${madeBy}.`,
];
