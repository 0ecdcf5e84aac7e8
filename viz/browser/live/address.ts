// What of a live page stands in its address: the sentence, the language that is read, the open
// head, and all edits: the heads that are removed, painted rows, and how the translation begins.

import type { HeadPlace, Kind, KindTrace, Row } from "../core/trace.ts";
import type { Edits } from "./sentence.ts";

const LONGEST = 2_000; // characters of a sentence
const MOST = 4_096; // rows and words of a map that an address names

export interface Link extends Edits {
  text: string; // "" where the address has none
  from: string; // code of the language that is read
  head: HeadPlace | null;
  problem: string; // a sentence about what cannot be had
}

const nameOf = ([kind, layer, head]: HeadPlace) => `${kind}-${layer + 1}-${head + 1}`;

/** Name a painted row and the words that it looks at evenly: `cross-2-1-4-3.5`. */
const rowName = ({ place, row, weights }: Row) => {
  const keys = weights.flatMap((weight, key) => (weight ? [key + 1] : []));
  return `${nameOf(place)}-${row + 1}-${keys.join(".")}`;
};

/** @param kinds of the model */
export function readLink(search: string, kinds: KindTrace[]): Link {
  const query = new URLSearchParams(search);
  const unknown: string[] = [];
  const placeOf = (name: string): HeadPlace[] => {
    const [, kind, layer, head] = /^(\w+)-(\d{1,4})-(\d{1,4})$/.exec(name) ?? [];
    const known = kinds.find((other) => other.kind === kind);
    const isThere = known && +layer >= 1 && +layer <= known.layers && +head >= 1
      && +head <= known.heads;
    if (isThere) return [[kind as Kind, +layer - 1, +head - 1]];
    unknown.push(name);
    return [];
  };
  const rowOf = (name: string): Row[] => {
    const [, head, row, keys = ""] = /^(\w+-\d+-\d+)-(\d{1,4})-(\d{1,4}(?:\.\d{1,4})*)$/.exec(name)
      ?? [];
    const numbers = [...new Set(keys.split(".").map(Number))];
    if (!head || [+row, ...numbers].some((n) => n < 1 || n > MOST)) {
      unknown.push(name);
      return [];
    }
    const weights = new Array<number>(Math.max(...numbers)).fill(0);
    for (const key of numbers) weights[key - 1] = 1 / numbers.length;
    return placeOf(head).map((place) => ({ place, row: +row - 1, weights }));
  };
  const names = (name: string) =>
    [...new Set((query.get(name) ?? "").split(",").filter(Boolean))];
  const [head = null] = names("head").slice(0, 1).flatMap(placeOf);
  const [removed, rows] = [names("removed").flatMap(placeOf), names("rows").flatMap(rowOf)];
  const text = (query.get("text") ?? "").replace(/[\r\n]+/g, " "); // a sentence is one line
  const problems = [
    ...(unknown.length ? ["The link names heads or rows that this model does not have; they are "
      + `left out: ${unknown.slice(0, 3).join(", ").slice(0, 100)}.`] : []),
    ...(text.length > LONGEST ? [`The link’s sentence has ${text.length.toLocaleString("en")} `
      + `characters, but the page reads ${LONGEST.toLocaleString("en")}: it is left out.`] : []),
  ];
  return {
    text: text.length > LONGEST || !text.trim() ? "" : text, from: query.get("from") ?? "", head,
    removed, rows, prefix: query.getAll("begins"), problem: problems.join(" "),
  };
}

const ACTS = ["text", "from", "removed", "rows", "begins"]; // which Back takes back
const OF_A_SENTENCE = ["step", "watched", "ribbons"]; // of the player

/** Write the address of what is shown; what belongs to another sentence leaves it.
 * @param replaces whether Back leads over the entry of before */
export function writeLink(link: Omit<Link, "problem">, replaces: boolean) {
  const { text, from, head, removed, rows, prefix } = link;
  const url = new URL(window.location.href);
  if (url.protocol === "about:") return; // a notebook's output has no address
  const before = new URLSearchParams(url.search);
  const set = (name: string, ...values: string[]) => {
    url.searchParams.delete(name);
    for (const value of values) if (value) url.searchParams.append(name, value);
  };
  set("text", text);
  set("from", from);
  set("head", head ? nameOf(head) : "");
  set("removed", removed.map(nameOf).join(","));
  set("rows", rows.map(rowName).join(","));
  set("begins", ...prefix);
  if (before.has("text") && before.get("text") !== text) {
    for (const name of OF_A_SENTENCE) set(name);
  }
  const areSame = (names: string[]) => names.every((name) =>
    String(before.getAll(name)) === String(url.searchParams.getAll(name)));
  if (areSame([...ACTS, "head"])) return;
  const acts = !replaces && !areSame(ACTS);
  history[acts ? "pushState" : "replaceState"](history.state, "", url);
}
