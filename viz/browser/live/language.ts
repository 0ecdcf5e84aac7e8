// The language of a text.

/** Return the code of the only language whose common words a text has; "" where it is unclear. */
export function likelyLanguage(text: string, common: Record<string, string[]>): string {
  const words = new Set(text.toLowerCase().match(/\p{L}+(?:'\p{L}+)?/gu));
  const codes = Object.keys(common).filter((code) => common[code].some((word) => words.has(word)));
  return codes.length === 1 ? codes[0] : "";
}
