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
