// What a visitor has done to the sentence, named, each with a button that takes it back.

import { button } from "../core/dom.ts";

export function showChips(
  list: HTMLElement, title: string, done: { text: string; undo: () => void }[],
) {
  list.replaceChildren(...done.length ? [title] : [], ...done.map(({ text, undo }) =>
    button(`${text} ✕`, undo, { "aria-label": `Undo: ${text}` })));
}
