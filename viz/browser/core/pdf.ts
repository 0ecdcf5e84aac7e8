// A picture as a PDF of one page: its pixels without loss. Letters stay pixels, so that a page
// needs no font of the reader's.

const POINTS = 0.75; // of a CSS pixel

/** Write a PDF (ISO 32000-1, §7.5) with one image that fills its page. */
export async function pdfOf(
  { pixels, width, height }: { pixels: Uint8ClampedArray; width: number; height: number },
  size: { width: number; height: number },
): Promise<Blob> {
  const packed = new Blob([opaque(pixels)]).stream().pipeThrough(new CompressionStream("deflate"));
  const data = new Uint8Array(await new Response(packed).arrayBuffer());
  const [wide, high] = [size.width * POINTS, size.height * POINTS];
  const objects = [
    ["<< /Type /Catalog /Pages 2 0 R >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${wide} ${high}] /Contents 4 0 R`
      + " /Resources << /XObject << /Picture 5 0 R >> >> >>"],
    stream("", `q ${wide} 0 0 ${high} 0 0 cm /Picture Do Q`),
    stream(`/Type /XObject /Subtype /Image /Width ${width} /Height ${height}`
      + " /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode ", data),
  ];
  const parts: Part[] = ["%PDF-1.4\n"];
  const lengthOf = () => parts.reduce((sum, part) => sum + part.length, 0);
  const places = objects.map((object, n) => {
    const place = String(lengthOf()).padStart(10, "0");
    parts.push(`${n + 1} 0 obj\n`, ...object, "\nendobj\n");
    return `${place} 00000 n \n`;
  });
  const table = lengthOf();
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`,
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return new Blob(parts, { type: "application/pdf" });
}

type Part = string | Uint8Array<ArrayBuffer>; // a string is ASCII, so as long in bytes

const stream = (entries: string, data: Part): Part[] =>
  [`<< ${entries}/Length ${data.length} >>\nstream\n`, data, "\nendstream"];

function opaque(pixels: Uint8ClampedArray) {
  const colors = new Uint8Array((pixels.length / 4) * 3);
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
    colors.set(pixels.subarray(from, from + 3), to);
  }
  return colors;
}
