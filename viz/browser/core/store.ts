// Values that mounts of one page share: Python sends the selected head apart from the
// grid, so that a choice does not send the grid's megabytes again.

const values = new Map<string, any>();
const subscribers = new Map<string, Set<(value: any) => void>>();

export const getValue = (key: string) => values.get(key);

export function setValue(key: string, value: any) {
  values.set(key, value);
  subscribers.get(key)?.forEach((act) => act(value));
}

export const deleteValue = (key: string) => values.delete(key);

/** @param act called with each value from now on */
export function subscribe(key: string, act: (value: any) => void): () => void {
  const acts = subscribers.get(key) ?? new Set();
  subscribers.set(key, acts.add(act));
  return () => {
    acts.delete(act);
    if (!acts.size) subscribers.delete(key);
  };
}

/** A choice that the reader makes in the picture and the host in the address. What was chosen last
 * counts: by the host, unless it has the reader's click still to answer. */
export class SharedChoice<T> {
  declare value: T;
  heard?: T; // from the host; undefined where it takes no part
  awaited = false;

  constructor(value: T) {
    this.value = value;
  }

  choose(value: T) {
    this.value = value;
    this.awaited = true;
  }

  follow(value: T | undefined) {
    if (value === undefined) return;
    if (value === this.value) this.awaited = false;
    else if (!this.awaited && value !== this.heard) this.value = value;
    this.heard = value;
  }
}
