// A picture as a PDF of one page: its pixels without loss. Letters stay pixels, so that a page
// needs no font of the reader's.

const POINTS = 0.75; // of a CSS pixel

/** Write a PDF (ISO 32000-1, §7.5) with one image that fills its page. */
export async function pdfOf(
  { pixels, width, height }: { pixels: Uint8ClampedArray; width: number; height: number },
  size: { width: number; height: number },
): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([opaque(pixels)]).stream().pipeThrough(new CompressionStream("deflate"));
  const data = new Uint8Array(await new Response(packed).arrayBuffer());
  const [wide, high] = [size.width * POINTS, size.height * POINTS];
  const content = `q ${wide} 0 0 ${high} 0 0 cm /Picture Do Q`;
  const objects = [
    ["<< /Type /Catalog /Pages 2 0 R >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${wide} ${high}] /Contents 4 0 R`
      + " /Resources << /XObject << /Picture 5 0 R >> >> >>"],
    stream("", new TextEncoder().encode(content)),
    stream(`/Type /XObject /Subtype /Image /Width ${width} /Height ${height}`
      + " /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode ", data),
  ];
  return joined(objects);
}

const stream = (entries: string, data: Uint8Array): (string | Uint8Array)[] =>
  [`<< ${entries}/Length ${data.length} >>\nstream\n`, data, "\nendstream"];

function joined(objects: (string | Uint8Array)[][]) {
  const parts: Uint8Array[] = [];
  let length = 0;
  const add = (part: string | Uint8Array) => {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    parts.push(bytes);
    length += bytes.length;
  };
  add("%PDF-1.4\n");
  const places = objects.map((object, n) => {
    const place = length;
    [`${n + 1} 0 obj\n`, ...object, "\nendobj\n"].forEach(add);
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const table = length;
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`);
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  const file = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}

function opaque(pixels: Uint8ClampedArray) {
  const colors = new Uint8Array((pixels.length / 4) * 3);
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
    colors.set(pixels.subarray(from, from + 3), to);
  }
  return colors;
}
