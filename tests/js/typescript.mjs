// node --import ./tests/js/typescript.mjs FILE: node reads TypeScript, its types taken out.

import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";
import { transform } from "esbuild";

if (isMainThread) register(import.meta.url); // node loads modules in another thread

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  const { code } = await transform(await readFile(new URL(url), "utf8"), { loader: "ts" });
  return { format: "module", source: code, shortCircuit: true };
}
