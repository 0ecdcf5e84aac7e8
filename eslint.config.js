import js from "@eslint/js";

// not yet written anew
const OLD = ["shared", "save", "svg_canvas", "mask_*", "architecture*"];

export default [
  { ignores: OLD.map((name) => `viz/draw/js/${name}.js`) },
  js.configs.recommended,
  {
    rules: {
      "no-undef": "off", // tsc knows every name
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "no-shadow": "error",
      "max-lines": ["error", 300],
      "max-len": ["error", { code: 100 }],
    },
  },
];
