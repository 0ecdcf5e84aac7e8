// node --import ./tests/js/typescript.mjs tests/js/palette.mjs: the colours of each kind and of
// differences, and those of heads that lie over each other, as JSON.

import { COLOR, headColors, paletteOf } from "../../viz/browser/core/palette.ts";

const kinds = /** @type {import("../../viz/browser/core/trace.ts").Kind[]} */ (Object.keys(COLOR));
const tables = [...kinds, null].map((kind) => {
  const { light, dark } = paletteOf(kind);
  return [kind ?? "difference", { light: [...light], dark: [...dark] }];
});
const heads = kinds.map((kind) =>
  [kind, { light: headColors(kind, "light"), dark: headColors(kind, "dark") }]);
const [colors, overlaid] = [Object.fromEntries(tables), Object.fromEntries(heads)];
console.log(JSON.stringify({ tables: colors, heads: overlaid }));
