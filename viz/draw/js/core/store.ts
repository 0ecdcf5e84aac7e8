// Values that mounts of one page share: Python sends the selected head apart from the
// grid, so that a choice does not send the grid's megabytes again.

/** @type {Map<string, any>} */
const values = new Map();
/** @type {Map<string, Set<(value: any) => void>>} */
const subscribers = new Map();

/** Get the last value of a key. @param {string} key */
export const getValue = (key) => values.get(key);

/** @param {string} key @param {any} value */
export function setValue(key, value) {
  values.set(key, value);
  subscribers.get(key)?.forEach((act) => act(value));
}

/** @param {string} key */
export const deleteValue = (key) => values.delete(key);

/**
 * @param {string} key
 * @param {(value: any) => void} act called with each value from now on
 * @returns {() => void} ends this
 */
export function subscribe(key, act) {
  const acts = subscribers.get(key) ?? new Set();
  subscribers.set(key, acts.add(act));
  return () => {
    acts.delete(act);
    if (!acts.size) subscribers.delete(key);
  };
}
