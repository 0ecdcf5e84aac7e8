// A lesson on a page without a server: one card at a time, with its picture, and whether an answer
// is right, as viz/lessons/grading.py has it.

interface Key {
  answer: string; // as it is shown; "" of a card without a question
  right: string[]; // the numbers of right choices, or the words that count as right
  value: number | null; // of an answer that is a number
  tolerance: number;
}

interface LessonData { texts: Record<string, string>; cards: Key[] }

const NUMBER = /^\s*([-−+]?)\s*(\d+(?:[.,]\d+)?(?:e[-−+]?\d+)?)\s*(%?)\s*$/i;

export function readNumber(text: string): number | null {
  const [, sign, digits, percent] = NUMBER.exec(text) ?? [];
  if (digits === undefined) return null;
  const size = Number(digits.replace(",", ".").replace("−", "-")) / (percent ? 100 : 1);
  return sign === "-" || sign === "−" ? -size : size;
}

/** Get a word as it is compared: without quotation marks, backticks, `·` and the case. */
function plain(text: string) {
  const word = text.trim().replace(/^[“”„"'‘’·`]+|[“”„"'‘’·`]+$/g, "").toLowerCase();
  return /[\p{L}\p{N}]/u.test(word) ? word : text.trim();
}

export function isRight(given: string, { answer, right, value, tolerance }: Key): boolean {
  if (value === null) return right.some((word) => plain(word) === plain(given));
  const number = readNumber(given);
  // what is shown rounded may be copied
  return number !== null
    && (Math.abs(number - value) <= tolerance || number === readNumber(answer));
}

const filled = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** @param draw draws the pictures of a card */
export async function runLesson(
  root: HTMLElement, { texts, cards: keys }: LessonData, draw: (card: HTMLElement) => unknown,
) {
  const cards = [...root.querySelectorAll<HTMLElement>(".card")];
  const solved = new Set<number>();

  const open = (number: number) => {
    cards.forEach((card, other) => { card.hidden = other !== number; });
    return draw(cards[number]);
  };
  cards.forEach((card, number) => {
    const part = <T extends HTMLElement>(name: string) => card.querySelector<T>(name);
    const [verdict, hint, reveal, score] = [".verdict", ".hint", ".reveal", ".score"].map((name) =>
      part(name) as HTMLElement);
    const key = keys[number];
    const tell = (text: string, shown: HTMLElement) => {
      verdict.textContent = filled(texts[text], { answer: key.answer });
      hint.hidden = shown !== hint;
      reveal.hidden = shown !== reveal;
      for (const place of reveal.querySelectorAll("[data-answer]")) place.textContent = key.answer;
      const count = keys.filter(({ answer }) => answer).length;
      score.textContent = filled(texts.score, { right: solved.size, count });
    };
    part<HTMLFormElement>("form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = new FormData(event.target as HTMLFormElement).get("answer");
      if (!given) return;
      const right = isRight(String(given), key);
      if (right) solved.add(number);
      tell(right ? "right" : "wrong", right ? reveal : hint);
    });
    part("[data-show]")?.addEventListener("click", () => tell("shown", reveal));
    for (const way of card.querySelectorAll<HTMLElement>("[data-go]")) {
      way.addEventListener("click", () => {
        const next = number + Number(way.dataset.go);
        open(next);
        cards[next].querySelector("h2")?.focus();
      });
    }
  });
  await open(0);
}
