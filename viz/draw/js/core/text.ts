// Tokens and numbers as a person reads them.

/** Isolate a token among other text: its direction stays inside it, Hebrew turns nothing around it.
 * @param {string} token */
export const isolate = (token) => `\u2068${token}\u2069`;

const RIGHT_TO_LEFT =
  /^[\p{Script=Arab}\p{Script=Hebr}\p{Script=Syrc}\p{Script=Thaa}\p{Script=Nkoo}]/u;

/** Test whether a text runs to the left: by its first letter, as `dir="auto"` does.
 * @param {string} text */
export const runsLeft = (text) => RIGHT_TO_LEFT.test(text.replace(/^\P{L}+/u, ""));

/** Name the largest square of a row, in the caption of a table.
 * @param {string} [amount] the quantity of a square, if it is no weight */
export const looksMost = (amount = "weight") =>
  (amount === "weight" ? "each position looks most" : `each row's largest ${amount} is`);

/** @param {string} token */
export const quote = (token) => `“${isolate(token)}”`;

/** Word a note for the reader's hand: fingers tap, and have neither a pointer nor a key Alt.
 * @param {string} note
 * @param {boolean} [touch] whether there is no pointer */
export const forHand = (note, touch = globalThis.matchMedia?.("(hover: none)").matches ?? false) =>
  (touch ? note.replace(/, or press Alt\+↓,/, "").replace(/Point at|Click/g, "Tap")
    .replace(/point at|click/g, "tap") : note);

/** Write a weight to three or four decimals; a bare 0 only for exactly 0. @param {number} weight */
export function number(weight) {
  if (weight === 0) return "0";
  if (weight > 0 && weight < 0.00005) return "< 0.0001";
  return weight.toFixed(weight < 0.1 ? 4 : 3);
}

/** Write a value in four figures, with a real minus sign. @param {number} value */
export const figure = (value) => String(Number(value.toPrecision(4))).replaceAll("-", "−");

/** Write a value to `count` decimals with a real minus sign; none where it rounds to 0.
 * @param {number} value @param {number} count */
export const fixed = (value, count) =>
  (Number(value.toFixed(count)) + 0).toFixed(count).replace("-", "−"); // -0 + 0 is 0

/** Write the natural logarithm of a probability. @param {number} logP */
export const logText = (logP) => (Number.isFinite(logP) ? fixed(logP, 2) : "−∞");

/** Write a share in two digits, and no 0 where there is some. @param {number} share */
export const digits = (share) => (share > 0 && share < 0.005 ? "< 0.01" : share.toFixed(2));

/** Write a difference of two weights, with its sign. @param {number} amount */
export function difference(amount) {
  if (amount === 0) return "0";
  if (Math.abs(amount) < 0.00005) return "≈ 0";
  return (amount < 0 ? "−" : "+") + number(Math.abs(amount));
}

/** Shorten a word to `room`: its beginning, and dots.
 * @param {string} word @param {number} room @param {(word: string) => number} wideOf */
export function shortened(word, room, wideOf) {
  if (wideOf(word) <= room) return word;
  const letters = [...word];
  let [fits, most] = [0, letters.length];
  while (fits < most) {
    const middle = Math.ceil((fits + most) / 2);
    if (wideOf(`${letters.slice(0, middle).join("")}…`) <= room) fits = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, fits).join("")}…`;
}

/** @param {number} value @param {number} least @param {number} most */
export const within = (value, least, most) => Math.min(Math.max(value, least), most);

/** Round a length to a hundredth of a pixel, as files have it. @param {number} length */
export const tidy = (length) => Math.round(100 * length) / 100;
