// The words that pieces belong to, as transformer/text/words.py numbers them.

/** What Python calls white space; `\s` of JavaScript has U+FEFF, and not the separators. */
const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f"
  + "\\u3000";
export const PLACEHOLDER = "\0"; // for a special piece

const IDEOGRAPHS = "\\u3005-\\u3007\\u3021-\\u3029\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa"
  + "\\u30fc-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f"
  + "\\u{20000}-\\u{3ffff}";
const WITH_MARK = "\\u0e33\\u0eb3"; // of Thai and Lao, a mark and a letter in one
const BLOCKS = "[\\u0e00-\\u0eff\\u1000-\\u109f\\ua9e0-\\ua9ff\\uaa60-\\uaa7f\\u1780-\\u17ff]";
const UNSPACED = `(?:[${IDEOGRAPHS}]|(?![${WITH_MARK}])(?=\\p{L})${BLOCKS})`;
const MARK = `(?:\\u200c|\\u200d|[${WITH_MARK}]|(?![\\u{10000}-\\u{10ffff}])\\p{M})`;
const STACKERS = "\\u1039\\u17d2\\u0e4d\\u0ecd"; // make one character with a letter behind them
const WORD = "[\\p{L}\\p{N}_]";

// nothing looks back, as Safari before 16.4 cannot
const LETTER = `(?:(?!${UNSPACED})${WORD}|${MARK})`;
const ALONE = `${UNSPACED}(?:[${STACKERS}]${UNSPACED}|${MARK})*`;
const PART = `(?:${LETTER}*\\p{Nd}(?:[.,]\\p{Nd}+)+|${LETTER}+)`;
const SYMBOLS = `(?!${WORD}|${MARK})[^${BLANK}\\0](?:(?!${WORD})[^${BLANK}\\0])*`;
const WORDS = new RegExp(
  `\\0|[${BLANK}]*(?:${ALONE}|${PART}(?:['’-]${PART})*|${SYMBOLS})|[${BLANK}]+`, "gu",
);

/** Split at white space and join by single spaces, as Python's `" ".join(text.split())`. */
export const withSingleSpaces = (text: string) =>
  text.split(new RegExp(`[${BLANK}]+`, "u")).filter((word) => word).join(" ");

/** Number the word of each piece: one that spans two belongs to the first, one without a text to
 * that of the piece before. @param texts with their spaces */
export function numberWords(texts: string[]): number[] {
  const starts = [...texts.join("").matchAll(WORDS)].map(({ index }) => index);
  const numbers = new Map<number, number>(); // by word; one in which no piece begins gets none
  const words: number[] = [];
  let [position, word] = [0, -1];
  for (const text of texts) {
    while (starts[word + 1] <= position) word++;
    if (!text && words.length) words.push(words[words.length - 1]);
    else {
      if (!numbers.has(word)) numbers.set(word, numbers.size);
      words.push(numbers.get(word) as number);
    }
    position += text.length;
  }
  return words;
}
