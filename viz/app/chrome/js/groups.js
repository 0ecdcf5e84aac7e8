// Part of the page itself: a group of choices is one stop of Tab, at the one that is chosen, and so
// is the bar of a chart; the arrow keys move within. Streamlit makes each button a stop.
{
  const CHOICES = "[role=radiogroup]";
  const BARS = "[data-testid=stElementToolbar], .modebar";
  const STEPS = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 });

  /** @param {HTMLElement[]} buttons @param {HTMLElement | undefined} stop */
  const mark = (buttons, stop) => {
    for (const button of buttons) {
      const index = button === stop ? 0 : -1;
      if (button.tabIndex !== index) button.tabIndex = index;
    }
  };

  /** @param {Element} group @returns {HTMLElement[]} */
  const buttonsOf = (group) => [...group.querySelectorAll("button")];

  const markAll = () => {
    for (const group of document.querySelectorAll(CHOICES)) {
      const buttons = buttonsOf(group);
      mark(buttons, buttons.find(({ ariaChecked }) => ariaChecked === "true") ?? buttons[0]);
    }
    for (const bar of document.querySelectorAll(BARS)) {
      if (!bar.matches(":focus-within")) mark(buttonsOf(bar), buttonsOf(bar)[0]);
    }
  };

  // the choices have arrow keys of their own
  addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    const bar = target instanceof Element && target.closest(BARS);
    if (!bar || !STEPS[key] || altKey || ctrlKey || metaKey) return;
    const buttons = buttonsOf(bar);
    const next = buttons[buttons.findIndex((button) => button === target) + STEPS[key]];
    event.preventDefault();
    if (!next) return;
    mark(buttons, next);
    next.focus();
  });

  let waiting = 0;
  new MutationObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(markAll);
  }).observe(document.documentElement, {
    childList: true, subtree: true, attributeFilter: ["aria-checked"],
  });
}
