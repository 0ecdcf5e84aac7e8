// One form for everything that travels from Python to the browser, as viz/draw/wire.py writes it,
// some of it packed as text of a saved page:
//
//     uint32 version | uint32 n | n bytes of JSON | zeros up to a multiple of 8 | arrays

const VERSION = 1;
const ALIGNED = 8;
const START = 8; // bytes before the header

/** The types of arrays, by the names that NumPy has for them. */
export const TYPES = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
  uint32: Uint32Array, int32: Int32Array, float32: Float32Array, float64: Float64Array,
};

type Values = InstanceType<(typeof TYPES)[keyof typeof TYPES]>;

export interface Message { // the content of a run of bytes
  meta: any; // plain values; each component's reader says which
  arrays: Record<string, Values>; // in C order
  shapes: Record<string, number[]>; // of the arrays, by the same names
}

export class WireError extends Error {}

/** @returns its arrays are views of `bytes` where these lie aligned, else of a copy
 * @throws {WireError} if the bytes are of another version, or cut */
export function decode(bytes: Uint8Array): Message {
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
  const first = end + (-end & (ALIGNED - 1));
  if (own.length < first) throw cut(own.length);
  let header: { meta: any; size: number; arrays: Entry[] };
  try {
    header = JSON.parse(new TextDecoder().decode(own.subarray(START, end)));
  } catch {
    throw new WireError("The header of the picture's data is damaged: load the page again.");
  }
  const { meta, size, arrays: entries } = header;
  if (own.length !== first + size) throw cut(own.length);
  const message: Message = { meta, arrays: {}, shapes: {} };
  for (const { name, dtype, shape, offset } of entries) {
    const Type = TYPES[dtype];
    if (!Type) throw new WireError(`The array ${name} is of ${dtype}, which no browser has.`);
    const length = shape.reduce((product, side) => product * side, 1);
    const stands = offset >= 0 && offset + length * Type.BYTES_PER_ELEMENT <= size;
    if (!stands) throw cut(own.length);
    message.arrays[name] = new Type(buffer, own.byteOffset + first + offset, length);
    message.shapes[name] = shape;
  }
  return message;
}

interface Entry { name: string; dtype: keyof typeof TYPES; shape: number[]; offset: number }

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

/** Unpack bytes from a page that carries them as text. @param text gzip in base64 */
export async function unzip(text: string): Promise<Uint8Array> {
  const letters = atob(text);
  const packed = new Uint8Array(letters.length);
  for (let n = 0; n < packed.length; n++) packed[n] = letters.charCodeAt(n);
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
