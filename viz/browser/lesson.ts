// A lesson on a page without a server: one card at a time, with its picture, and whether an answer
// is right, as viz/lessons/grading.py has it.

import { readNumbers } from "./core/numbers.ts";
import { SPECIAL } from "./core/text.ts";

interface Key { // as `_answer` of viz/site/lesson_page.py writes it
  answer: string; // as it is shown; "" of a card without a question
  right: string[]; // the words that count as right
  value: number | null; // of an answer that is a number
  tolerance: number;
}

/** Get a word as it is compared: without quotation marks, backticks, `·` and the case. Pictures
 * name `<s>` and `</s>` in words. */
function plain(text: string) {
  const word = text.trim().replace(/^[“”„"'‘’·`]+|[“”„"'‘’·`]+$/g, "").toLowerCase();
  return /[\p{L}\p{N}]/u.test(word) ? SPECIAL.get(word) ?? word : text.trim();
}

function isRight(given: string, { answer, right, value, tolerance }: Key): boolean {
  if (value === null) return right.some((word) => plain(word) === plain(given));
  const shown = readNumbers(answer); // rounded: it may be copied
  return readNumbers(given)
    .some((number) => Math.abs(number - value) <= tolerance || shown.includes(number));
}

/** Get the name of the text that asks for an answer where there is none, or "". */
function missing(given: string, { value }: Key) {
  if (!given.trim()) return "blank";
  return value !== null && readNumbers(given).length === 0 ? "number" : "";
}

const filled = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

/** @param draw draws the pictures of a card */
export async function runLesson(
  root: HTMLElement, { texts, cards: keys }: { texts: Record<string, string>; cards: Key[] },
  draw: (card: HTMLElement) => unknown,
) {
  const cards = [...root.querySelectorAll<HTMLElement>(".card")];
  const solved = new Set<number>();
  const shown = new Set<number>(); // whose answers no longer count
  const open = (number: number) => {
    cards.forEach((card, other) => { card.hidden = other !== number; });
    return draw(cards[number]);
  };
  cards.forEach((card, number) => {
    const part = (name: string) => card.querySelector(name) as HTMLElement;
    /** Say how an answer is taken, in sight on a low screen, too. */
    const say = (verdict: string) => {
      part(".verdict").textContent = filled(texts[verdict], { answer: keys[number].answer });
      for (const name of [".score", ".verdict"]) part(name).scrollIntoView({ block: "nearest" });
    };
    const tell = (verdict: string) => {
      const { answer } = keys[number];
      part(".hint").hidden = verdict !== "wrong";
      part(".reveal").hidden = verdict === "wrong";
      for (const place of card.querySelectorAll("[data-answer]")) place.textContent = answer;
      const count = keys.filter((key) => key.answer).length;
      part(".score").textContent = filled(texts.score, { right: solved.size, count });
      say(verdict);
    };
    card.querySelector("form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = String(new FormData(event.target as HTMLFormElement).get("answer") ?? "");
      const asked = missing(given, keys[number]);
      if (asked) {
        say(asked);
        return;
      }
      const right = isRight(given, keys[number]);
      if (right && !shown.has(number)) solved.add(number);
      tell(right ? "right" : "wrong");
    });
    card.querySelector("[data-show]")?.addEventListener("click", () => {
      shown.add(number);
      tell("shown");
    });
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
