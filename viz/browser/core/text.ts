/** The tokens that begin and end a sentence, in words. */
export const SPECIAL = new Map([["<s>", "start"], ["</s>", "end"]]);

/** Isolate a token among other text: its direction stays inside it, Hebrew turns no other. */
export const isolate = (token: string) => `\u2068${SPECIAL.get(token) ?? token}\u2069`;

const RIGHT_TO_LEFT =
  /^[\p{Script=Arab}\p{Script=Hebr}\p{Script=Syrc}\p{Script=Thaa}\p{Script=Nkoo}]/u;

/** Test whether a text runs to the left: by its first letter, as `dir="auto"` does. */
export const runsLeft = (text: string) => RIGHT_TO_LEFT.test(text.replace(/^\P{L}+/u, ""));

export const looksMost = (amount = "weight") =>
  (amount === "weight" ? "each position looks most" : `each row's largest ${amount} is`);

export const quote = (token: string) => `“${isolate(token)}”`;

/** Word a note for the reader's hand: fingers tap, and have neither a pointer nor a key Alt. */
export const forHand = (
  note: string, touch = globalThis.matchMedia?.("(hover: none)").matches ?? false,
) =>
  (touch ? note.replace(/ \(or press Alt\+↓\)/, "").replace(/Point at|Click/g, "Tap")
    .replace(/point at|click/g, "tap") : note);

/** Write a weight to three or four decimals; a bare 0 only for exactly 0. */
export function number(weight: number) {
  if (weight === 0) return "0";
  if (weight > 0 && weight < 0.00005) return "< 0.0001";
  return weight.toFixed(weight < 0.1 ? 4 : 3);
}

export const figure = (value: number) =>
  (value === -Infinity ? "−∞" : String(Number(value.toPrecision(4))).replaceAll("-", "−"));

/** Write a value to `count` decimals with a real minus sign; none where it rounds to 0. */
export const fixed = (value: number, count: number) =>
  (Number(value.toFixed(count)) + 0).toFixed(count).replace("-", "−"); // -0 + 0 is 0

export const logText = (logP: number) => (Number.isFinite(logP) ? fixed(logP, 2) : "−∞");

/** Write a share in two digits, and no 0 where there is some. */
export const digits = (share: number) => (share > 0 && share < 0.005 ? "< 0.01" : share.toFixed(2));

export function difference(amount: number) {
  if (amount === 0) return "0";
  if (Math.abs(amount) < 0.00005) return "≈ 0";
  return (amount < 0 ? "−" : "+") + number(Math.abs(amount));
}

/** Shorten a word to `room`: its beginning, and dots. */
export function shortened(word: string, room: number, wideOf: (word: string) => number) {
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

export const within = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most);

export const tidy = (length: number) => Math.round(100 * length) / 100;
