import assert from "node:assert/strict";
import { test } from "node:test";
import { digits, figure, fixed, logText } from "../../viz/draw/js/core/text.js";

test("a number has a real minus sign, and none where it rounds to 0", () => {
  assert.deepEqual([-0.004, -0, 0.004, -0.006, -12.345].map((value) => fixed(value, 2)),
    ["0.00", "0.00", "0.00", "−0.01", "−12.35"]);
  assert.equal(fixed(-0.4, 0), "0");
  assert.deepEqual([-1e-9, Math.log(0.5), Math.log(0)].map(logText), ["0.00", "−0.69", "−∞"]);
  assert.deepEqual([-3.2e-9, -0.12345].map(figure), ["−3.2e−9", "−0.1235"]);
});

test("a share that rounds to 0 is no bare 0 unless it is one", () => {
  assert.deepEqual([0, 0.0049, 0.005, 1].map(digits), ["0.00", "< 0.01", "0.01", "1.00"]);
});
