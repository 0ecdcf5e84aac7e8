// Values that mounts of one page share: Python sends the selected head apart from the
// grid, so that a choice does not send the grid's megabytes again.

import type { Trace } from "./trace.ts";

const values = new Map<string, any>();
const changes = new EventTarget();

export const getValue = (key: string) => values.get(key);

export function setValue(key: string, value: any) {
  values.set(key, value);
  changes.dispatchEvent(new CustomEvent(key, { detail: value }));
}

export function deleteValue(key: string) {
  values.delete(key);
  changes.dispatchEvent(new CustomEvent(key, { detail: null }));
}

/** @param act called with each value from now on */
export function subscribe(key: string, act: (value: any) => void): () => void {
  const hear = (event: Event) => act((event as CustomEvent).detail);
  changes.addEventListener(key, hear);
  return () => changes.removeEventListener(key, hear);
}

/** A trace of which several pictures are made: it travels once, under its checksum. */
export interface Carried { id: string; trace: Trace }

const CARRIED = "trace";

export function carry(carried: Carried) {
  setValue(CARRIED, carried);
  return () => {
    if (getValue(CARRIED) === carried) deleteValue(CARRIED); // not one that came after it
  };
}

/** Give a trace to a picture that names it, as soon as it is there.
 * @returns forgets the picture */
export function withTrace(id: string, act: (trace: Trace) => void): () => void {
  const hear = (carried: Carried | null) => {
    if (carried?.id !== id) return;
    forget();
    act(carried.trace);
  };
  const forget = subscribe(CARRIED, hear);
  hear(getValue(CARRIED) ?? null);
  return forget;
}

/** A choice that the reader makes in the picture and the host in the address. What was chosen last
 * counts: by the host, unless it has the reader's click still to answer. What it names once more is
 * no choice of its own. */
export class SharedChoice<T> {
  declare value: T;
  heard?: T; // from the host; undefined where it takes no part
  awaited?: T; // the last click, until the host names it

  constructor(value: T) {
    this.value = value;
  }

  choose(value: T) {
    this.value = value;
    // the host sends nothing that is as before, but it may have a click to answer before this one
    if (value !== this.heard || this.awaited !== undefined) this.awaited = value;
  }

  follow(value: T | undefined) {
    if (value === undefined) return;
    if (value === this.awaited) this.awaited = undefined;
    else if (this.awaited === undefined && value !== this.heard) this.value = value;
    this.heard = value;
  }
}
