import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";

// these words name nothing: a name is a noun of the field
const EMPTY = ["of", "one", "said", "what", "found", "kept", "told", "each"];

export default [
  js.configs.recommended,
  {
    plugins: { "@stylistic": stylistic },
    rules: {
      "no-undef": "off", // tsc knows every name
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "no-shadow": "error",
      "id-denylist": ["error", ...EMPTY],
      "max-lines": ["error", 500],
      "@stylistic/comma-dangle": ["error", "always-multiline"],
      "@stylistic/indent": ["error", 2],
      "@stylistic/max-len": ["error", { code: 100 }],
      "@stylistic/quotes": ["error", "double", { avoidEscape: true }],
      "@stylistic/semi": "error",
    },
  },
];
