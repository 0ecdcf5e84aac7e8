// One form for everything that travels from Python to the browser, as viz/draw/wire.py writes it,
// some of it packed as text of a saved page:
//
//     uint32 version | uint32 n | n bytes of JSON | zeros up to a multiple of 8 | arrays

const VERSION = 2;
const ALIGNED = 8;
const START = 8; // bytes before the header

export const TYPES = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
  uint32: Uint32Array, int32: Int32Array, float32: Float32Array, float64: Float64Array,
};

interface Entry { dtype: keyof typeof TYPES; shape: number[] }

export class WireError extends Error {}

const aligned = (place: number) => place + (-place & (ALIGNED - 1));

/** @returns the message, its arrays in C order: views of `bytes` where these lie aligned, else of a
 *   copy
 * @throws {WireError} if the bytes are of another version, or cut */
export function decode(bytes: Uint8Array): any {
  const own = bytes.byteOffset % ALIGNED ? bytes.slice() : bytes;
  if (own.length < START) throw cut(own.length);
  const buffer = own.buffer as ArrayBuffer;
  const view = new DataView(buffer, own.byteOffset);
  const version = view.getUint32(0, true);
  if (version !== VERSION) {
    throw new WireError(`The picture's data are of version ${version} and its script reads version `
      + `${VERSION}: load the page again.`);
  }
  const end = START + view.getUint32(4, true);
  let at = aligned(end);
  if (own.length < at) throw cut(own.length);
  let header: { message: any; arrays: Entry[] };
  try {
    header = JSON.parse(new TextDecoder().decode(own.subarray(START, end)));
  } catch {
    throw new WireError("The header of the picture's data is damaged: load the page again.");
  }
  const arrays = header.arrays.map(({ dtype, shape }) => {
    const Type = TYPES[dtype];
    if (!Type) throw new WireError(`An array is of ${dtype}, which no browser has.`);
    const length = shape.reduce((product, side) => product * side, 1);
    const first = at;
    at = aligned(first + length * Type.BYTES_PER_ELEMENT);
    if (at > own.length) throw cut(own.length);
    return new Type(buffer, own.byteOffset + first, length);
  });
  if (own.length !== at) throw cut(own.length);
  return placed(header.message, arrays);
}

/** Put arrays and messages in the places that name them. */
function placed(value: any, arrays: ArrayBufferView[]): any {
  if (typeof value !== "object" || value === null) return value;
  if ("$array" in value) return arrays[value.$array];
  if ("$message" in value) return decode(arrays[value.$message] as Uint8Array);
  for (const name of Object.keys(value)) value[name] = placed(value[name], arrays);
  return value;
}

const cut = (length: number) =>
  new WireError(`The picture's data end after ${length} bytes, not where they should: load the `
    + "page again.");

const WAIT = 20; // ms until a page that is still being read is looked at again

/** Read the text of an element, once the page has it to its end.
 * @throws if the page ends without it */
export async function textOf(name: string) {
  for (;;) {
    const ended = document.readyState !== "loading";
    const element = document.getElementById(name);
    // while the page is read, an element is whole when another one follows
    if (element && (ended || element.nextElementSibling)) return element.textContent ?? "";
    if (ended) throw new Error(`no ${name} in the page`);
    await new Promise((done) => setTimeout(done, WAIT));
  }
}

/** Read bytes that a page carries as text, in base64. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = letters.charCodeAt(n);
  return bytes;
}

/** Unpack bytes from a page that carries them as text. @param text gzip in base64 */
export async function unzip(text: string): Promise<Uint8Array> {
  const plain = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
