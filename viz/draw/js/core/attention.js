// What all pictures of attention know about it.

/**
 * Decoder self-attention: what stands later is hidden (§3.2.3). A weight there would be shown.
 * @param {string} kind
 * @param {number} query
 * @param {number} key
 * @param {number} weight
 */
export const hidden = (kind, query, key, weight) =>
  kind === "decoder_self" && key > query && weight === 0;
