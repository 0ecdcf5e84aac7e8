// A saved PDF holds the pixels of the picture, and its table leads to its objects; a reference is
// BibTeX.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";

import { pdfOf } from "../../viz/browser/core/pdf.ts";
import { bibtexOf } from "../../viz/browser/core/save.ts";

test("a PDF has one page of the picture's size and its pixels without loss", async () => {
  const pixels = Uint8ClampedArray.from({ length: 3 * 2 * 4 }, (_, n) => (n % 4 === 3 ? 255 : n));
  const size = { width: 120, height: 80 };
  const file = Buffer.from(await pdfOf({ pixels, width: 3, height: 2 }, size));
  const text = file.toString("latin1");
  assert.ok(text.startsWith("%PDF-1.4"));
  assert.ok(text.includes("/MediaBox [0 0 90 60]"));
  const table = Number(/startxref\n(\d+)/.exec(text)?.[1]);
  const places = text.slice(table).matchAll(/^(\d{10}) 00000 n $/gm);
  [...places].forEach(([, place], n) =>
    assert.ok(text.slice(Number(place)).startsWith(`${n + 1} 0 obj`)));
  const image = /FlateDecode \/Length (\d+) >>\nstream\n/.exec(text);
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
