// node --import ./tests/js/typescript.mjs tests/js/decode.mjs FILE: what the browser reads in the
// bytes of a file, as JSON.

import { readFileSync } from "node:fs";
import { decode } from "../../viz/browser/core/wire.ts";

const { arrays, ...plain } = decode(new Uint8Array(readFileSync(process.argv[2])));
const decoded = Object.fromEntries(Object.entries(arrays ?? {}).map(([name, values]) =>
  [name, { type: values.constructor.name, values: [...values].map(String) }]));
console.log(JSON.stringify({ plain, arrays: decoded }));
