// What all pictures of attention know about it.

/**
 * Causal attention: what stands later is hidden (§3.2.3). A weight there would be shown.
 * @param {boolean} causal whether a query sees no later key
 * @param {number} query
 * @param {number} key
 * @param {number} weight
 */
export const hidden = (causal, query, key, weight) => causal && key > query && weight === 0;
