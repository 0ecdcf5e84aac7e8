// SentencePiece from its own file, tokenizer.model: byte-pair encoding, which joins the best pair
// first (§5.1), and unigram, which takes the most probable way to cut a text.

import { BOS, EngineError, EOS, PAD, UNK } from "./folder.ts";
import { Normalizer, SPACE } from "./normalizer.ts";
import { fieldsOf, textOf } from "./protobuf.ts";

const [PIECE, TRAINER, NORMALIZER] = [1, 2, 3]; // fields of the model
const [MODEL_TYPE, SPACE_AT_END, BYTE_FALLBACK, UNKNOWN_TEXT] = [3, 24, 35, 44]; // of the trainer
const [UNIGRAM, BPE] = [1, 2]; // types of model
const [NORMAL, UNKNOWN, CONTROL, GIVEN, UNUSED, BYTE] = [1, 2, 3, 4, 5, 6]; // types of piece
const UNKNOWN_PENALTY = 10; // of a character without a piece, below the least score

export const SPECIAL: Record<number, string> = { [PAD]: "<pad>", [BOS]: "<s>", [EOS]: "</s>" };

export interface Token { id: number; text: string } // an unknown one has its own characters

export class Tokenizer {
  private texts: string[] = [];
  private scores: number[] = [];
  private types: number[] = [];
  private ids = new Map<string, number>(); // of pieces that text is cut into
  private bytes: number[] = []; // pieces of single bytes
  private trainer = new Map<number, number | Uint8Array>();
  private normalizer = new Normalizer(new Uint8Array(0));
  private longest = 0; // letters of a piece
  private unknownScore = 0;

  /** @throws {EngineError} if it is not a tokenizer that this page can run */
  constructor(model: Uint8Array) {
    try {
      for (const [field, value] of fieldsOf(model)) {
        if (field === PIECE) this.addPiece(value as Uint8Array);
        else if (field === TRAINER) this.trainer = new Map(fieldsOf(value as Uint8Array));
        else if (field === NORMALIZER) this.normalizer = new Normalizer(value as Uint8Array);
      }
    } catch {
      throw new EngineError("The model's tokenizer is damaged: load the page again.");
    }
    const isOurs = [PAD, BOS, EOS].every((id) => this.texts[id] === SPECIAL[id])
      && this.types[UNK] === UNKNOWN;
    const isKnown = [UNIGRAM, BPE].includes(this.type) && !this.trainer.get(SPACE_AT_END)
      && !this.types.some((type) => type === GIVEN || type === UNUSED);
    if (!isOurs || !isKnown) {
      throw new EngineError("The model's tokenizer is not one of ours, byte-pair encoding or "
        + "unigram, so this page cannot cut a text into its pieces: take another model.");
    }
    const normal = this.scores.filter((_, id) => this.types[id] === NORMAL);
    this.unknownScore = normal.reduce((least, score) => Math.min(least, score), Infinity)
      - UNKNOWN_PENALTY;
  }

  get size(): number {
    return this.texts.length;
  }

  private get type(): number {
    return (this.trainer.get(MODEL_TYPE) as number | undefined) ?? UNIGRAM;
  }

  private addPiece(message: Uint8Array) {
    let [text, score, type] = ["", 0, NORMAL];
    for (const [field, value] of fieldsOf(message)) {
      if (field === 1) text = textOf(value);
      else if (field === 2) score = value as number;
      else if (field === 3) type = value as number;
    }
    const id = this.texts.length;
    if (type === BYTE) this.bytes[parseInt(text.slice(3), 16)] = id; // <0xE2>
    else if (type !== CONTROL && type !== UNKNOWN) {
      this.ids.set(text, id);
      this.longest = Math.max(this.longest, [...text].length);
    }
    this.texts.push(text);
    this.scores.push(score);
    this.types.push(type);
  }

  encode(text: string): Token[] {
    const written = this.normalizer.normalize(text);
    const tokens: Token[] = [];
    for (const part of this.type === BPE ? this.merged(written) : this.mostProbable(written)) {
      const id = this.ids.get(part) ?? UNK;
      const last = tokens[tokens.length - 1];
      if (id === UNK && this.trainer.get(BYTE_FALLBACK)) {
        const ids = [...new TextEncoder().encode(part)].map((byte) => this.bytes[byte] ?? UNK);
        tokens.push(...ids.map((byte) => this.token(byte)));
      } else if (id === UNK && last?.id === UNK) last.text += part; // a run of them is one
      else tokens.push({ id, text: part });
    }
    return tokens;
  }

  /** Join pairs of parts while they make a piece, that of the best score first. */
  private merged(text: string): string[] {
    // mostly no piece goes on over a space, and each word can be taken by itself
    const isByWord = !this.texts.some((piece, id) =>
      this.types[id] === NORMAL && piece.lastIndexOf(SPACE) > 0);
    return (isByWord ? text.split(/(?=▁)/) : [text]).flatMap((word) => {
      const parts = [...word];
      for (;;) {
        let [best, place] = [-Infinity, -1];
        for (let n = 0; n + 1 < parts.length; n++) {
          const id = this.ids.get(parts[n] + parts[n + 1]);
          if (id !== undefined && this.scores[id] > best) [best, place] = [this.scores[id], n];
        }
        if (place < 0) return parts;
        parts.splice(place, 2, parts[place] + parts[place + 1]);
      }
    });
  }

  /** Cut where the scores of the pieces have the largest sum, in float32 as SentencePiece does. */
  private mostProbable(text: string): string[] {
    const letters = [...text];
    const best: { sum: number; start: number }[] = [{ sum: 0, start: 0 }]; // by where a piece ends
    const offer = (end: number, start: number, score: number) => {
      const sum = Math.fround(score + best[start].sum);
      if (!best[end] || sum > best[end].sum) best[end] = { sum, start };
    };
    for (let start = 0; start < letters.length; start++) {
      let piece = "";
      let isKnown = false;
      for (let end = start + 1; end <= Math.min(letters.length, start + this.longest); end++) {
        piece += letters[end - 1];
        const id = this.ids.get(piece);
        if (id === undefined) continue;
        offer(end, start, this.scores[id]);
        isKnown ||= end === start + 1;
      }
      if (!isKnown) offer(start + 1, start, Math.fround(this.unknownScore));
    }
    const parts: string[] = [];
    for (let end = letters.length; end > 0; end = best[end].start) {
      parts.push(letters.slice(best[end].start, end).join(""));
    }
    return parts.reverse();
  }

  token(id: number): Token {
    return { id, text: SPECIAL[id] ?? this.texts[id] };
  }

  /** @returns the id of a piece as `token` writes it, undefined of what is not one */
  idOf(text: string): number | undefined {
    const special = Object.keys(SPECIAL).map(Number).find((id) => SPECIAL[id] === text);
    const byte = this.bytes.find((id) => this.texts[id] === text);
    return special ?? this.ids.get(text) ?? byte;
  }

  /** Join pieces to a text; special ones are left out. */
  decode(ids: number[]): string {
    let [text, bytes] = ["", [] as number[]];
    const flush = () => {
      text += new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(bytes));
      bytes = [];
    };
    for (const id of ids) {
      if (this.types[id] === BYTE) bytes.push(this.bytes.indexOf(id));
      else if (!SPECIAL[id]) {
        flush();
        const piece = id === UNK ? this.unknownText : this.texts[id];
        text += (text ? piece : piece.replace(SPACE, "")).replaceAll(SPACE, " ");
      }
    }
    flush();
    return text;
  }

  private get unknownText(): string {
    const given = this.trainer.get(UNKNOWN_TEXT);
    return given === undefined ? " ⁇ " : textOf(given);
  }
}
