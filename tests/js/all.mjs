// node --import ./tests/js/typescript.mjs tests/js/all.mjs: every test in one process, as another
// one for each file takes longer to start than its tests to run.

import { readdirSync } from "node:fs";

for (const name of readdirSync(new URL(".", import.meta.url))) {
  if (name.endsWith(".test.ts")) await import(new URL(name, import.meta.url).href);
}
