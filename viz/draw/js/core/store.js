// What one mount says to another of the same page: Python tells the selected head apart from the
// grid, so that a choice does not send the grid's megabytes again.

/** @type {Map<string, any>} */
const values = new Map();
/** @type {Map<string, Set<(value: any) => void>>} */
const followers = new Map();

/** The value that was said last under a key. @param {string} key */
export const said = (key) => values.get(key);

/** @param {string} key @param {any} value */
export function say(key, value) {
  values.set(key, value);
  followers.get(key)?.forEach((act) => act(value));
}

/** @param {string} key */
export const forget = (key) => values.delete(key);

/**
 * @param {string} key
 * @param {(value: any) => void} act called with each value from now on
 * @returns {() => void} ends this
 */
export function follow(key, act) {
  const acts = followers.get(key) ?? new Set();
  followers.set(key, acts.add(act));
  return () => {
    acts.delete(act);
    if (!acts.size) followers.delete(key);
  };
}
