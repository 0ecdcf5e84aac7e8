import assert from "node:assert/strict";
import { test } from "node:test";
import { mixed } from "../../viz/browser/core/color.ts";
import { digits, figure, fixed, logText, shortened } from "../../viz/browser/core/text.ts";

test("a number has a real minus sign, and none where it rounds to 0", () => {
  assert.deepEqual([-0.004, -0, 0.004, -0.006, -12.345].map((value) => fixed(value, 2)),
    ["0.00", "0.00", "0.00", "−0.01", "−12.35"]);
  assert.equal(fixed(-0.4, 0), "0");
  assert.deepEqual([-1e-9, Math.log(0.5), Math.log(0)].map(logText), ["0.00", "−0.69", "−∞"]);
  assert.deepEqual([-3.2e-9, -0.12345].map(figure), ["−3.2e−9", "−0.1235"]);
});

test("a share that rounds to 0 is not written as 0 unless it is 0", () => {
  assert.deepEqual([0, 0.0049, 0.005, 1].map(digits), ["0.00", "< 0.01", "0.01", "1.00"]);
});

test("a word without room is its beginning, with the dots that say so", () => {
  const wideOf = (word: string) => [...word].length;
  assert.equal(shortened("Hunde", 5, wideOf), "Hunde");
  assert.equal(shortened("🐕🐕🐕🐕", 3, wideOf), "🐕🐕…"); // no half of a letter
  assert.equal(shortened("Hunde", 0, wideOf), "…");
});

test("colours are mixed as a browser mixes them in OKLab", () => {
  // what Chromium computes for color-mix(in oklab, …)
  assert.equal(mixed("#1f2123", "#fcfcfb", 0.55), "rgb(121,123,124)");
  assert.equal(mixed("#009e73", "#fcfcfb", 0.14), "rgb(224,239,231)");
  assert.equal(mixed("#d55e00", "#131415", 0.14), "rgb(43,31,25)");
  assert.equal(mixed("#0072b2", "#ffffff", 1), "rgb(0,114,178)");
  assert.equal(mixed("#0072b2", "#ffffff", 0), "rgb(255,255,255)");
});
