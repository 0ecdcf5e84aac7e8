import assert from "node:assert/strict";
import { test } from "node:test";
import { mixed } from "../../viz/browser/core/color.ts";

test("colours are mixed as a browser mixes them in OKLab", () => {
  // what Chromium computes for color-mix(in oklab, …)
  assert.equal(mixed("#1f2123", "#fcfcfb", 0.55), "rgb(121,123,124)");
  assert.equal(mixed("#009e73", "#fcfcfb", 0.14), "rgb(224,239,231)");
  assert.equal(mixed("#d55e00", "#131415", 0.14), "rgb(43,31,25)");
  assert.equal(mixed("#0072b2", "#ffffff", 1), "rgb(0,114,178)");
  assert.equal(mixed("#0072b2", "#ffffff", 0), "rgb(255,255,255)");
});
