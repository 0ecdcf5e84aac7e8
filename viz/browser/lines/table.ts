// The table of all heads over the sentences: the button of a row opens its head, and the one above
// a column sorts the rows by it, the largest first.

import type { Head } from "../head_grid/plan.ts";

export class HeadTable {
  rows: HTMLTableRowElement[];

  constructor(place: HTMLElement, onChoose: (head: Head) => void) {
    const body = place.querySelector("tbody") as HTMLTableSectionElement;
    this.rows = [...body.rows]; // by kind and layer
    for (const row of this.rows) {
      row.querySelector("button")?.addEventListener("click", () => {
        const head: Head = JSON.parse(row.dataset.head as string);
        this.mark(head);
        onChoose(head);
      });
    }
    const tops = [...place.querySelectorAll("thead th")];
    tops.forEach((top, column) => top.querySelector("button")?.addEventListener("click", () => {
      const value = (row: HTMLTableRowElement) => Number(row.cells[column].dataset.value ?? 0);
      body.replaceChildren(...[...this.rows].sort((a, b) => value(b) - value(a)));
      for (const other of tops) other.removeAttribute("aria-sort");
      top.setAttribute("aria-sort", "descending");
    }));
  }

  mark(head: Head) {
    for (const row of this.rows) {
      const isOpen = row.dataset.head === JSON.stringify(head);
      row.querySelector("button")?.setAttribute("aria-pressed", String(isOpen));
    }
  }
}
