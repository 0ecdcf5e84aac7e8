// Data that a saved page carries as text, in elements with a name.

const WAIT = 20; // ms until a page that is still being read is looked at again

/**
 * Read the text of an element, once the page has it to its end.
 * @param {string} name
 * @throws if the page ends without it
 */
export async function textOf(name) {
  for (;;) {
    const ended = document.readyState !== "loading";
    const element = document.getElementById(name);
    // while the page is read, an element is whole when another one follows
    if (element && (ended || element.nextElementSibling)) return element.textContent ?? "";
    if (ended) throw new Error(`no ${name} in the page`);
    await new Promise((done) => setTimeout(done, WAIT));
  }
}

/**
 * Unpack bytes from a page that carries them as text.
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
