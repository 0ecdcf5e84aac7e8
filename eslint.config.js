import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    rules: {
      "no-undef": "off", // tsc knows every name
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "no-shadow": "error",
      "max-lines": ["error", 500],
      "max-len": ["error", { code: 100 }],
    },
  },
];
