// What of a live page stands in its address: the sentence, the language that is read, the open
// head, and the heads that are removed.

import type { HeadPlace, Kind, KindTrace } from "../core/trace.ts";

const LONGEST = 2_000; // characters of a sentence

export interface Link {
  text: string; // "" where the address has none
  from: string; // code of the language that is read
  head: HeadPlace | null;
  removed: HeadPlace[];
  problem: string; // a sentence about what cannot be had
}

const nameOf = ([kind, layer, head]: HeadPlace) => `${kind}-${layer + 1}-${head + 1}`;

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
  const names = (name: string) => (query.get(name) ?? "").split(",").filter(Boolean);
  const [head = null] = names("head").slice(0, 1).flatMap(placeOf);
  const removed = [...new Set(names("removed"))].flatMap(placeOf);
  const text = query.get("text") ?? "";
  const problems = [
    ...(unknown.length ? ["The link names heads that this model does not have; they are left out: "
      + `${unknown.slice(0, 3).join(", ").slice(0, 100)}.`] : []),
    ...(text.length > LONGEST ? [`The link’s sentence has ${text.length.toLocaleString("en")} `
      + `characters, but the page reads ${LONGEST.toLocaleString("en")}: it is left out.`] : []),
  ];
  return {
    text: text.length > LONGEST ? "" : text, from: query.get("from") ?? "", head, removed,
    problem: problems.join(" "),
  };
}

/** Write the address of what is shown; what belongs to another sentence leaves it. */
export function writeLink(
  { text, from, head, removed }: Omit<Link, "problem">, isSameSentence: boolean,
) {
  const url = new URL(window.location.href);
  const set = (name: string, value: string) =>
    (value ? url.searchParams.set(name, value) : url.searchParams.delete(name));
  set("text", text);
  set("from", from);
  set("head", head ? nameOf(head) : "");
  set("removed", removed.map(nameOf).join(","));
  if (!isSameSentence) for (const name of ["step", "watched", "ribbons", "break"]) set(name, "");
  if (url.href !== window.location.href) history.replaceState(history.state, "", url);
}
