import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { sharpnessOf } from "../../viz/browser/core/canvas.ts";
import { bibtexOf, captioned, drawingOf, pdfOf } from "../../viz/browser/core/save.ts";
import { group, type Mark, picture, rect, text } from "../../viz/browser/core/scene.ts";
import { svgOf } from "../../viz/browser/core/svg.ts";
import { measure, theme } from "./samples.ts";

const tools = { measure, address: () => "data:picture" };

const svg = (marks: Mark[]) =>
  svgOf({ width: 100, height: 50, marks, font: "'A & B'" }, tools);

test("words are text whatever they hold, and what no XML may hold is replaced", () => {
  const file = svg([text({ text: "<b>&\"\ud83d\u0007", x: 1, y: 2, size: 10, fill: "#000" })]);
  assert.match(file, />&lt;b&gt;&amp;&quot;\ufffd\ufffd<\/text>/);
  assert.match(file, /font-family="'A &amp; B'"/);
  assert.match(file, /viewBox="0 0 100 50"/);
});

test("few large pixels are squares, many or small ones stay one picture", () => {
  const pixels = Uint8ClampedArray.of(1, 2, 3, 255, 0, 0, 0, 0);
  const raster = { width: 2, height: 1, pixels };
  const large = svg([picture({ raster, x: 5, y: 0, width: 20, height: 10 })]);
  assert.equal(large.match(/<rect/g)?.length, 1); // the transparent one is none
  assert.match(large, /x="5" y="0" width="10" height="10" fill="rgb\(1,2,3\)"/);
  const small = svg([picture({ raster, x: 5, y: 0, width: 2, height: 1, title: "a < b" })]);
  assert.match(small, /<image[^>]*href="data:picture"[^>]*><title>a &lt; b<\/title><\/image>/);
  assert.match(small, /image-rendering: pixelated/);
  const mixed = svg([picture({ raster, x: 5, y: 0, width: 1, height: 1, smooth: true })]);
  assert.match(mixed, /<image/);
  assert.doesNotMatch(mixed, /image-rendering/);
});

test("a word without room is squeezed and not cut; a turned one turns around its place", () => {
  const word = { text: "abcdef", x: 1, y: 2, size: 10, fill: "#000" }; // 30 wide
  assert.match(svg([text({ ...word, room: 20 })]), /textLength="20"/);
  assert.match(svg([text({ ...word, room: 40 })]), /textLength="30"/);
  const turned = svg([group([text({ ...word, angle: -Math.PI / 2, middle: true })], { x: 4 })]);
  assert.match(turned, /x="0" y="3.4" transform="translate\(5,2\) rotate\(-90\)"/);
});

test("a caption stands under the drawing, in lines as wide as it and none of it lost", () => {
  const drawing = { name: "a", width: 100, height: 50, marks: [], theme };
  assert.equal(captioned(drawing, [], measure), drawing);
  const long = `${"word ".repeat(40)}${"x".repeat(200)} end.`;
  const { width, height, marks } = captioned(drawing, ["Headlight 0.1.0.", long], measure);
  const lines = marks.flatMap((mark) => (mark.type === "text" ? [mark] : []));
  assert.equal(lines.map(({ text: line }) => line).join("").replaceAll(" ", ""),
    `Headlight 0.1.0.${long}`.replaceAll(" ", ""));
  for (const line of lines) {
    assert.ok(line.x + measure(line.text, line.size, 400) <= width, line.text);
    assert.ok(line.y > 50 && line.y < height, line.text);
  }
});

test("a PNG has two pixels for each unit, or as many as a canvas can hold", () => {
  for (const [width, height, pixels] of [
    [1000, 800, 2000], [8000, 8000, 8000], [40_000, 300, 16_384], [300, 40_000, 122.88],
  ]) assert.equal(Number((width * sharpnessOf(width, height, 2)).toFixed(6)), pixels);
});

test("a canvas on a phone has its pixels, or as many as Safari can hold there", () => {
  assert.equal(sharpnessOf(358, 5000, 3, 2 ** 24), 3);
  const fewer = sharpnessOf(358, 5400, 3, 2 ** 24); // 144 heads, sorted
  assert.ok(fewer < 3 && fewer > 2.9);
  assert.ok(358 * 5400 * fewer ** 2 <= 2 ** 24);
});

test("a sheet has room for its title, lines, note and legend, and is named after itself", () => {
  const sheet = {
    name: "L3 H5 · cross", title: "a title", lines: ["one", "two"], note: "note", theme,
    width: 60, height: 40, marks: [rect({ x: 0, y: 0, width: 60, height: 40, fill: "red" })],
    legend: ["weight 0", { width: 30, marks: [] }, "1"],
  };
  const drawing = drawingOf(sheet, measure);
  assert.equal(drawing.name, "headlight-l3-h5-cross");
  const height = 16 + 21 * 3 + 10 + 40 + 10 + 42 + 21 + 16; // the legend takes two lines
  assert.deepEqual([drawing.width, drawing.height], [92, height]);
  const file = svgOf({ ...drawing, font: theme.font }, tools);
  for (const words of ["a title", "one", "two", "note", "weight 0", ">1<"]) {
    assert.ok(file.includes(words), words);
  }
});

test("a PDF has one page of the picture's size and its pixels without loss", async () => {
  const pixels = Uint8ClampedArray.from({ length: 3 * 2 * 4 }, (_, n) => (n % 4 === 3 ? 255 : n));
  const size = { width: 120, height: 80 };
  const blob = await pdfOf({ pixels, width: 3, height: 2 }, size);
  const file = Buffer.from(await blob.arrayBuffer());
  const written = file.toString("latin1");
  assert.ok(written.startsWith("%PDF-1.4"));
  assert.ok(written.includes("/MediaBox [0 0 90 60]"));
  const table = Number(/startxref\n(\d+)/.exec(written)?.[1]);
  const places = written.slice(table).matchAll(/^(\d{10}) 00000 n $/gm);
  [...places].forEach(([, place], n) =>
    assert.ok(written.slice(Number(place)).startsWith(`${n + 1} 0 obj`)));
  const image = /FlateDecode \/Length (\d+) >>\nstream\n/.exec(written);
  const begin = (image?.index ?? 0) + (image?.[0].length ?? 0);
  const colors = inflateSync(file.subarray(begin, begin + Number(image?.[1])));
  assert.deepEqual([...colors], [...pixels].filter((_, n) => n % 4 !== 3));
});

test("a reference names model and sentence, and no letter of a sentence is a command", () => {
  const caption = ["“\u206850 % of \\input{x}\u2069” → “y”", "Headlight 1"];
  const entry = bibtexOf("headlight-l2-h5-cross", caption);
  assert.match(entry, /^@misc\{headlight-l2-h5-cross,\n/);
  assert.match(entry, /note = \{“50 \\% of inputx” → “y” Headlight 1\},/);
});
