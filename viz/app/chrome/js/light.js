// Part of the page itself: the place that the open card of a lesson highlights.
//
// Python names keys of elements (`panel.py`), in the order in which they count; which of them the
// page has is known here alone, and changes as it is drawn.
{
  const LIT = "hl-lit";
  const PANEL = ".st-key-lesson";
  /** Card and page that are open. */
  let opened = "";
  /** Whether the place is kept in sight. */
  let following = false;
  /** @type {Element | null} */
  let watched = null;

  /** @param {string} key */
  const place = (key) => document.querySelector(`.st-key-${CSS.escape(key)}, .${CSS.escape(key)}`);

  const light = () => {
    const card = /** @type {HTMLElement | null} */ (document.querySelector("[data-light]"));
    const keys = card?.dataset.light?.split(" ") ?? [];
    const lit = keys.map(place).find((element) => element !== null) ?? null;
    for (const other of document.querySelectorAll(`.${LIT}`)) {
      if (other !== lit) other.classList.remove(LIT);
    }
    if (lit === null || card === null) return;
    if (!lit.classList.contains(LIT)) lit.classList.add(LIT);
    const name = `${card.dataset.card} ${location.pathname}`;
    if (name !== opened) [opened, following] = [name, true];
    if (lit !== watched) {
      watched = lit;
      sizes.disconnect();
      sizes.observe(lit);
      sizes.observe(lit.closest("[data-testid=stMainBlockContainer]") ?? document.body);
    }
    if (following) lit.scrollIntoView({ block: "nearest" });
  };

  // pictures come late, and move what is below them
  const sizes = new ResizeObserver(light);

  // from then on it is the reader who scrolls
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(act, ({ target }) => {
      if (!(target instanceof Element && target.closest(PANEL))) following = false;
    }, { capture: true, passive: true });
  }
  addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(`${PANEL} a`)) following = true;
  }, true);

  let waiting = 0;
  new MutationObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(light);
  }).observe(document.documentElement, { childList: true, subtree: true });
}
