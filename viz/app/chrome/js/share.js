// Part of the page itself: copies the link of what is shown, without answers to a lesson, and turns
// keys into steps while the page is presented.
{
  const COPIED = "Copied";
  const NEXT = "[class*=st-key-lesson-next]";
  const BACK = "[class*=st-key-lesson-back]";
  // of the keyboard, and of a presenter's remote control
  const STEPS = /** @type {Record<string, string>} */ ({
    ArrowRight: NEXT, PageDown: NEXT, ArrowLeft: BACK, PageUp: BACK,
  });
  const FINDINGS = ".st-key-findings-links a";

  addEventListener("click", async ({ target }) => {
    const button = target instanceof Element
      && /** @type {HTMLElement | null} */ (target.closest("[data-copy-link]"));
    if (!button) return;
    const text = button.textContent;
    const link = new URL(location.href);
    if (link.searchParams.has("answers")) link.searchParams.delete("answers");
    try {
      await navigator.clipboard.writeText(link.href);
      button.textContent = COPIED;
    } catch {
      // a page without https may not write to the clipboard: the link can be copied from here
      prompt("Copy this link", link.href);
    }
    setTimeout(() => { button.textContent = text; }, 1500);
  });

  let finding = -1;

  /** @param {string} place */
  const step = (place) => {
    const control = /** @type {HTMLElement | null} */ (
      document.querySelector(`${place} :is(a, button:not(:disabled))`));
    if (control) return control;
    const links = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(FINDINGS));
    if (links.length === 0) return null;
    finding = (finding + (place === NEXT ? 1 : -1) + links.length) % links.length;
    return links[finding] ?? null;
  };

  addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    if (!document.querySelector("[data-present]") || altKey || ctrlKey || metaKey) return;
    // a field or a picture takes the arrows itself
    const free = target === document.body
      || (target instanceof Element
        && target.matches("main, section, a, button, [data-testid=stMain]"));
    if (!free) return;
    if (key === "Escape") {
      /** @type {HTMLElement | null} */ (
        document.querySelector(".st-key-present-end button"))?.click();
    } else if (STEPS[key]) {
      const control = step(STEPS[key]);
      if (control) {
        event.preventDefault();
        control.click();
      }
    }
  });
}
