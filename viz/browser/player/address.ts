// What of a player stands in the address: its step and its head, without an entry of the browser's
// history for each. A step belongs to one sentence: the host takes it out where another one comes.

import type { Head, PlayerData } from "./plan.ts";

export const STEP = "step"; // from 1
export const WATCHED = "watched"; // a head: `cross-4-3`
export const RIBBONS = "ribbons"; // `links` for the links between words
export const BREAK = "break"; // how many heads are removed

export interface Linked {
  step: number; // from 0; -1 where the address has none
  head: Head | null;
  links: boolean;
  broken: number | null;
}

export function readAddress({ kinds }: PlayerData): Linked {
  const query = new URLSearchParams(window.location.search);
  const [name, layer, head] = (query.get(WATCHED) ?? "").split("-");
  const kind = kinds.find((other) => other.kind === name);
  const fits = kind && +layer >= 1 && +layer <= kind.layers && +head >= 1 && +head <= kind.heads;
  const step = Number(query.get(STEP));
  const broken = query.get(BREAK) ?? "";
  return {
    step: Number.isInteger(step) ? step - 1 : -1,
    head: fits ? { kind: kind.kind, layer: +layer - 1, head: +head - 1 } : null,
    links: query.get(RIBBONS) === "links",
    broken: /^\d{1,3}$/.test(broken) ? Number(broken) : null,
  };
}

const WRITTEN = "headlight-address"; // an event of the page: see viz/app/chrome/js/history.js

/** Name the page and the sentence of the address. */
export const placeOf = () =>
  window.location.pathname + new URLSearchParams(window.location.search).get("text");

/** Act after the host has written the address as it knows it; what is returned ends that. */
export function afterHost(act: () => void): () => void {
  addEventListener(WRITTEN, act);
  return () => removeEventListener(WRITTEN, act);
}

/** Write names into the address; null takes one out. */
export function writeAddress(values: Record<string, string | null>) {
  if (window.frameElement) return;
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  History.prototype.replaceState.call(history, history.state, "", url);
}
