// Tokens and numbers as a person reads them.

/** A token among other text: its own direction stays inside it, Hebrew turns nothing around it.
 * @param {string} token */
export const isolate = (token) => `\u2068${token}\u2069`;

const RIGHT_TO_LEFT =
  /^[\p{Script=Arab}\p{Script=Hebr}\p{Script=Syrc}\p{Script=Thaa}\p{Script=Nkoo}]/u;

/** Whether a text runs to the left: by its first letter, as a browser sees it for `dir="auto"`.
 * @param {string} text */
export const runsLeft = (text) => RIGHT_TO_LEFT.test(text.replace(/^\P{L}+/u, ""));

/** Where a head looks most, in a table's caption.
 * @param {string} [amount] the quantity of a square, if it is no weight */
export const looksMost = (amount = "weight") =>
  (amount === "weight" ? "each position looks most" : `each row's largest ${amount} is`);

/** @param {string} token */
export const quote = (token) => `“${isolate(token)}”`;

/**
 * A weight to three or four decimals; a bare 0 only for what is exactly 0.
 * @param {number} weight
 */
export function number(weight) {
  if (weight === 0) return "0";
  if (weight > 0 && weight < 0.00005) return "< 0.0001";
  return weight.toFixed(weight < 0.1 ? 4 : 3);
}

/** Any value in four figures, with a real minus sign. @param {number} value */
export const figure = (value) => String(Number(value.toPrecision(4))).replaceAll("-", "−");

/** So many digits with a real minus sign; what rounds to 0 has none.
 * @param {number} value @param {number} count */
export const fixed = (value, count) =>
  (Number(value.toFixed(count)) + 0).toFixed(count).replace("-", "−"); // -0 + 0 is 0

/** A natural logarithm of a probability. @param {number} logP */
export const logText = (logP) => (Number.isFinite(logP) ? fixed(logP, 2) : "−∞");

/** A share in two digits, and no 0 where there is some. @param {number} share */
export const digits = (share) => (share > 0 && share < 0.005 ? "< 0.01" : share.toFixed(2));

/** A difference of two weights, with its sign. @param {number} amount */
export function difference(amount) {
  if (amount === 0) return "0";
  if (Math.abs(amount) < 0.00005) return "≈ 0";
  return (amount < 0 ? "−" : "+") + number(Math.abs(amount));
}

/**
 * A word that is no wider than `room`: of a longer one the beginning, with the dots that say so.
 * @param {string} word
 * @param {number} room
 * @param {(word: string) => number} wideOf
 */
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

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
export const within = (value, least, most) => Math.min(Math.max(value, least), most);

/** A length to a hundredth of a pixel, as it is written in a file. @param {number} length */
export const tidy = (length) => Math.round(100 * length) / 100;
