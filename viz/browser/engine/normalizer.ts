// How SentencePiece writes a text before it cuts it: by the table that is stored in its model. A
// browser's own NFKC is of a newer Unicode, and would write some characters in another way.

import { fieldsOf } from "./protobuf.ts";

export const SPACE = "▁";
const [TABLE, DUMMY_PREFIX, REMOVE_SPACES, ESCAPE_SPACES] = [2, 3, 4, 5]; // fields of its settings

export class Normalizer {
  private units = new Uint32Array(0); // a trie as a double array
  private replacements = new Uint8Array(0); // texts, a zero after each
  private settings = new Map<number, number>();

  /** @param message the settings, as `NormalizerSpec` */
  constructor(message: Uint8Array) {
    for (const [field, value] of fieldsOf(message)) {
      if (typeof value === "number") this.settings.set(field, value);
      else if (field === TABLE && value.length) {
        const table = new Uint8Array(value); // a copy, which begins its buffer
        const size = new DataView(table.buffer).getUint32(0, true);
        this.units = new Uint32Array(table.buffer.slice(4, 4 + size));
        this.replacements = table.subarray(4 + size);
      }
    }
  }

  normalize(text: string): string {
    const typed = new TextEncoder().encode(text);
    const bytes: number[] = [];
    for (let at = 0; at < typed.length;) {
      const match = this.longest(typed, at);
      if (match) {
        for (let n = match.place; this.replacements[n]; n++) bytes.push(this.replacements[n]);
        at += match.length;
      } else { // one character
        do bytes.push(typed[at++]); while ((typed[at] & 0xc0) === 0x80);
      }
    }
    // else a mark of the byte order, which is a character here, would be left out
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    return this.withSpaces(decoder.decode(new Uint8Array(bytes)));
  }

  private withSpaces(text: string): string {
    const isSet = (field: number) => this.settings.get(field) !== 0; // unless said, all are
    const removes = isSet(REMOVE_SPACES);
    const single = removes ? text.replace(/ +/g, " ").replace(/^ /, "") : text;
    if (!single) return "";
    const spaced = (isSet(DUMMY_PREFIX) ? " " : "") + single;
    const written = isSet(ESCAPE_SPACES) ? spaced.replaceAll(" ", SPACE) : spaced;
    return removes ? written.replace(/[ ▁]+$/, "") : written;
  }

  /** Walk the trie: the longest text in the table that stands here. */
  private longest(bytes: Uint8Array, start: number): { length: number; place: number } | null {
    const { units } = this;
    let match = null;
    let node = units.length ? offsetOf(units[0]) : 0;
    for (let at = start; at < bytes.length; at++) {
      node ^= bytes[at];
      const unit = units[node];
      if (unit === undefined || ((unit & 0x800000ff) >>> 0) !== bytes[at]) break;
      node ^= offsetOf(unit);
      if ((unit >>> 8) & 1) match = { length: at - start + 1, place: units[node] & 0x7fffffff };
    }
    return match;
  }
}

const offsetOf = (unit: number) => (unit >>> 10) << ((unit & 0x200) >>> 6);
