// node viz/browser/build.mjs: the scripts that a browser loads, from the modules of this folder.
// With --check nothing is written: it says whether the files are those of these modules.

import {
  existsSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import ts from "typescript";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../..");

// served by address: another content is another address, so that a browser may keep it for ever
const SERVED = { entry: "streamlit.ts", folder: "headlight/browser", name: "headlight-[hash]" };
// carried by a saved page and by a site
const CARRIED = [
  { entry: "report.ts", folder: "viz/draw", name: "report_bundle" },
  { entry: "site.ts", folder: "viz/draw", name: "site_bundle" },
  { entry: "live.ts", folder: "viz/draw", name: "live_bundle" },
  { entry: "live/service_worker.ts", folder: "viz/draw", name: "service_worker_bundle" },
  { entry: "engine/worker.ts", folder: "viz/draw", name: "engine_bundle" },
];

/** Modules without their types. esbuild chooses short names by the letters of the source: with the
 * types in it, another type would change bundles and their address.
 * @type {import("esbuild").Plugin} */
const untyped = {
  name: "untyped",
  setup: ({ onLoad }) => onLoad({ filter: /\.ts$/ }, ({ path }) => ({
    contents: ts.transpile(readFileSync(path, "utf8"), {
      target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true,
      removeComments: true,
    }),
  })),
};

/**
 * @param {{entry: string, folder: string, name: string}} output
 * @param {string} css
 */
async function bundle({ entry, folder, name }, css) {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, entry)],
    entryNames: name,
    outdir: join(ROOT, folder),
    define: { HEADLIGHT_STYLE: JSON.stringify(css) },
    plugins: [untyped],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    // "\n" stays an escape: a notebook may turn every line end of its outputs into a blank
    supported: { "template-literal": false },
    charset: "utf8",
    legalComments: "none",
    write: false,
  });
  return outputFiles[0];
}

/** The table of components: NAME.ts or NAME/view.ts exports the class NAME, in CamelCase.
 * The explorer is a page of its own, which Streamlit does not load. */
const components = readdirSync(HERE).sort().flatMap((entry) => {
  const name = entry.replace(/\.ts$/, "");
  const path = name === entry ? `${entry}/view.ts` : entry;
  const type = name.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase());
  const source = existsSync(join(HERE, path)) ? readFileSync(join(HERE, path), "utf8") : "";
  const shows = name !== "explorer" && source.includes(`\nexport class ${type} extends `);
  return shows ? [`export { ${type} as ${name} } from "./${path}";`] : [];
});
const table = {
  path: join(HERE, "components.ts"),
  text: `// By build.mjs: each component by the name of its file.\n\n${components.join("\n")}\n`,
};

const sheet = ["style.css", "player/style.css"]
  .map((name) => readFileSync(join(HERE, name), "utf8")).join("\n");
const { code } = await transform(sheet, { loader: "css", minify: true, charset: "utf8" });
const checks = process.argv.includes("--check");
if (!checks) writeFileSync(table.path, table.text); // before what is bundled from it
const bundles = await Promise.all([SERVED, ...CARRIED].map((o) => bundle(o, code.trim())));
const files = [table, ...bundles];
const served = join(ROOT, SERVED.folder);
mkdirSync(served, { recursive: true });
const old = readdirSync(served).filter((name) =>
  name.endsWith(".js") && !files.some(({ path }) => basename(path) === name));
if (checks) {
  const stale = files.filter(({ path, text }) =>
    !existsSync(path) || readFileSync(path, "utf8") !== text);
  if (stale.length || old.length) {
    const names = [...stale.map(({ path }) => relative(ROOT, path)), ...old].join(", ");
    console.error(`Not what viz/browser makes: ${names}. Run \`npm run build\`.`);
    process.exit(1);
  }
} else {
  for (const name of old) unlinkSync(join(served, name));
  for (const { path, text } of files) {
    writeFileSync(path, text);
    console.log(`${relative(ROOT, path)}  ${text.length} bytes`);
  }
}
