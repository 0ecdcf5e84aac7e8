// A picture as a file, PNG, SVG or PDF: all of it, what is scrolled out of sight too, with its
// title, the words on its axes and its legend.

import { canvasOf, paint, sharpnessOf } from "./canvas.ts";
import { button, choice, make, penOf } from "./dom.ts";
import { group, type Mark, type Raster, rect, type Sample, text } from "./scene.ts";
import { svgOf } from "./svg.ts";
import { type Measure, measureIn, type Theme } from "./theme.ts";

interface Drawing { name: string; width: number; height: number; marks: Mark[]; theme: Theme }

interface Texts { // around a picture
  title: string;
  name?: string; // `L3 H5 · cross` is saved as `headlight-l3-h5-cross`; else the title
  lines?: string[]; // between title and picture
  note?: string; // under it
  legend?: (string | Sample)[]; // under the note
}

export type Sheet = Omit<Drawing, "name"> & Texts;

export const SHARP = 2; // pixels for each unit of a drawing
const PRINT_SCALE = 4; // likewise, on paper: 384 for each inch
const MARGIN = 16;
const LINE = 21;
const LETTERS = 14;
const GAP = 9; // between two items of the legend
const LONGEST = 160; // letters of a file's name: eight heads with their lens
const CAPTION = { size: 12, line: 17, narrowest: 320 };

/** One quiet button, which opens the forms of a file and the choice of white paper. */
export function saveMenu(drawing: (white: boolean) => Drawing, caption: () => string[]) {
  const { input, label } = choice({ type: "checkbox" }, "white background");
  const opener = make("summary", { "aria-label": "Save the picture" }, "Save");
  const list = make("div", { class: "hl-save-list", role: "group", "aria-label": "Files" });
  const menu = make("details", { class: "hl-save" }, opener, list);
  const offerForm = (form: string, name: string, save: () => void) =>
    list.append(button(form, () => {
      save();
      menu.open = false;
      opener.focus({ preventScroll: true });
    }, { "aria-label": name }));
  offerForm("PNG", "Save as PNG", () => savePng(drawing(input.checked)));
  offerForm("SVG", "Save as SVG", () => saveSvg(drawing(input.checked)));
  offerForm("PDF", "Save as PDF", () => savePdf(drawing(input.checked)));
  offerForm("BibTeX", "Save a BibTeX entry", () => {
    const { name } = drawing(input.checked);
    offer(new Blob([bibtexOf(name, caption())], { type: "application/x-bibtex" }), `${name}.bib`);
  });
  list.append(label);
  const closeOutside = (event: Event) => {
    if (!event.composedPath().includes(menu)) menu.open = false;
  };
  // at once: the event of opening comes later than a quick click elsewhere
  opener.addEventListener("click",
    () => document.addEventListener("pointerdown", closeOutside, true));
  menu.addEventListener("toggle", () => {
    if (!menu.open) document.removeEventListener("pointerdown", closeOutside, true);
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation(); // it closes nothing else
    menu.open = false;
    opener.focus({ preventScroll: true });
  });
  return menu;
}

function saveSvg({ name, width, height, marks, theme }: Drawing) {
  const tools = {
    measure: measureIn(theme),
    address: (raster: Raster) => canvasOf(raster).toDataURL(),
  };
  const file = svgOf({ width, height, marks, font: theme.font }, tools);
  offer(new Blob([file], { type: "image/svg+xml" }), `${name}.svg`);
}

function savePng(drawing: Drawing) {
  const canvas = rasterOf(drawing, SHARP);
  canvas.toBlob((blob) => blob && offer(blob, `${drawing.name}.png`), "image/png");
}

async function savePdf(drawing: Drawing) {
  const canvas = rasterOf(drawing, PRINT_SCALE);
  const { data: pixels, width, height } = penOf(canvas).getImageData(
    0, 0, canvas.width, canvas.height);
  offer(await pdfOf({ pixels, width, height }, drawing), `${drawing.name}.pdf`);
}

function rasterOf({ width, height, marks, theme }: Drawing, most: number) {
  const sharp = sharpnessOf(width, height, most);
  const canvas = make("canvas",
    { width: Math.round(width * sharp), height: Math.round(height * sharp) });
  const context = penOf(canvas);
  context.scale(sharp, sharp);
  paint(context, marks, theme.font);
  return canvas;
}

export function bibtexOf(name: string, caption: string[]) {
  // what TeX reads as a command, and the marks that only set a text apart from its direction
  const note = caption.join(" ").replace(/[\u2066-\u2069]/g, "").replace(/[\\{}^~]/g, "")
    .replace(/[$&#_%]/g, "\\$&");
  return `@misc{${name},
  author = {{Headlight contributors}},
  title = {{Headlight}: attention of a Transformer on one sentence},
  year = {${new Date().getFullYear()}},
  note = {${note}},
}
`;
}

function offer(blob: Blob, download: string) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser may read it a little later
}

export function drawingOf(sheet: Sheet, measure: Measure): Drawing {
  const { theme, title, lines = [], note = "" } = sheet;
  const wideOf = (words: string, size = LETTERS, weight = 400) =>
    Math.ceil(measure(words, size, weight));
  const wide = Math.max(sheet.width, wideOf(title, 16, 600), wideOf(note),
    ...lines.map((line) => wideOf(line)));
  const named = (sheet.name ?? title).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const head = MARGIN + LINE * (1 + lines.length) + 10;
  const foot = head + sheet.height + 10;
  const { marks, bottom } = footOf(sheet, wide, wideOf);
  const [width, height] = [Math.ceil(wide + 2 * MARGIN), Math.ceil(foot + bottom + LINE + MARGIN)];
  return {
    name: ["headlight", ...named].join("-").slice(0, LONGEST), width, height, theme,
    marks: [
      rect({ x: 0, y: 0, width, height, fill: theme.paper }),
      text({ text: title, x: MARGIN, y: MARGIN + 14, size: 16, weight: 600, fill: theme.ink }),
      ...lines.map((line, n) => words(line, MARGIN, MARGIN + 14 + LINE * (n + 1), theme)),
      group(sheet.marks, { x: MARGIN, y: head }),
      group(marks, { x: MARGIN, y: foot }),
    ],
  };
}

function footOf(
  { note, legend = [], theme }: Sheet, wide: number, wideOf: (words: string) => number,
): { marks: Mark[]; bottom: number } {
  let [x, y] = [0, note ? LINE : 0];
  const marks = note ? [words(note, 0, 14, theme) as Mark] : [];
  for (const item of legend) {
    const width = typeof item === "string" ? wideOf(item) : item.width;
    if (x && x + width > wide) [x, y] = [0, y + LINE];
    marks.push(typeof item === "string" ? words(item, x, y + 14, theme)
      : group(item.marks, { x, y: y + 4 }));
    x += width + ((typeof item !== "string" && item.gap) || GAP);
  }
  return { marks, bottom: y };
}

/** The drawing with what it was made from in small letters under it: a file outlives its page.
 * @param caption broken into lines as wide as the drawing */
export function captioned(drawing: Drawing, caption: string[], measure: Measure): Drawing {
  if (!caption.length) return drawing;
  const { theme, height, marks } = drawing;
  const width = Math.max(drawing.width, CAPTION.narrowest + 2 * MARGIN);
  const lines = caption.flatMap((sentence) =>
    wrapped(sentence, width - 2 * MARGIN, (part) => measure(part, CAPTION.size, 400)));
  const high = height + lines.length * CAPTION.line + MARGIN / 2;
  const written = lines.map((line, n) => text({
    text: line, x: MARGIN, y: height + n * CAPTION.line + CAPTION.size / 2, size: CAPTION.size,
    fill: theme.quiet,
  }));
  const paper = rect({ x: 0, y: 0, width, height: high, fill: theme.paper });
  return { ...drawing, width, height: high, marks: [paper, ...marks, ...written] };
}

/** Break a sentence into lines no wider than `wide`, a wider word between its letters. */
function wrapped(sentence: string, wide: number, wideOf: (part: string) => number) {
  const parts = (sentence.match(/\S*\s|\S+/g) ?? []).flatMap((word) =>
    (wideOf(word.trimEnd()) > wide ? [...word] : [word]));
  const lines = [""];
  for (const part of parts) {
    const line = lines[lines.length - 1] + part;
    if (line !== part && wideOf(line.trimEnd()) > wide) lines.push(part);
    else lines[lines.length - 1] = line;
  }
  return lines.map((line) => line.trimEnd());
}

const words = (line: string, x: number, y: number, theme: Theme) =>
  text({ text: line, x, y, size: LETTERS, fill: theme.ink });

const POINTS = 0.75; // of a CSS pixel

/** Write a PDF (ISO 32000-1, §7.5) with one image without loss that fills its page: letters are
 * pixels too, so that it needs no font of the reader's. */
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
