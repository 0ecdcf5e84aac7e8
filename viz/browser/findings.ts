// The findings at the head of a saved page: each opens its head.

import { bringIntoView } from "./core/dom.ts";
import { type Explorer, headOf } from "./explorer.ts";

/** @param explorer of the page, once its data are read */
export function openFindings(explorer: () => Explorer | undefined) {
  for (const finding of document.querySelectorAll<HTMLElement>("header button")) {
    finding.addEventListener("click", () => {
      explorer()?.overview?.open(headOf(finding.dataset.head ?? ""));
      bringIntoView(".hl-explorer-open");
    });
  }
}
