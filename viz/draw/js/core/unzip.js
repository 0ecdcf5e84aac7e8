// What a page carries as text.

/**
 * Bytes from a page that carries them as text.
 * @param {string} text gzip in base64
 * @returns {Promise<Uint8Array>}
 */
export async function unzip(text) {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let n = 0; n < packed.length; n++) packed[n] = letters.charCodeAt(n);
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
