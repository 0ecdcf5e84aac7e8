// Do README, docs and cards read well? Harper, offline; names each place, and exits with 1.

import { readFileSync } from "node:fs";
import { Dialect, LocalLinter } from "harper.js";
import { slimBinaryInlined } from "harper.js/slimBinaryInlined";

// few of Harper's rules: the others know neither subwords nor German
const RULES = ["LongSentences", "RepeatedWords", "AnA", "AvoidAndAlso"];

const linter = new LocalLinter({ binary: slimBinaryInlined, dialect: Dialect.British });
const names = Object.keys(await linter.getDefaultLintConfig());
await linter.setLintConfig(Object.fromEntries(names.map((name) => [name, RULES.includes(name)])));
for (const path of process.argv.slice(2)) {
  const text = readFileSync(path, "utf-8");
  for (const lint of await linter.lint(text, { language: "markdown" })) {
    const line = text.slice(0, lint.span().start).split("\n").length;
    console.error(`${path}:${line}: ${lint.message()} “${lint.get_problem_text().slice(0, 60)}”`);
    process.exitCode = 1;
  }
}
