// What all pictures of attention know about it.

/** What a table shows of each row, after `where`; only a weight says where a position looks.
 * @param {string} [amount] what a square holds, where it is no weight */
export const looksMost = (amount = "weight") =>
  (amount === "weight" ? "each position looks most" : `each row's largest ${amount} is`);

/**
 * Causal attention: what stands later is hidden (§3.2.3). A weight there would be shown.
 * @param {boolean} causal whether a query sees no later key
 * @param {number} query
 * @param {number} key
 * @param {number} weight
 */
export const hidden = (causal, query, key, weight) => causal && key > query && weight === 0;
