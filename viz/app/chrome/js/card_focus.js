// Part of the page itself: where the focus goes as the open card of a lesson changes.
//
// The button that was pressed is gone then, and a reader without a mouse would begin again at the
// top of the page. The focus goes on to the verdict, to the field that can be answered again, or to
// the title of the next card; Streamlit draws the link anew with the page that it opens.
{
  const PANEL = ".st-key-lesson";
  const MENU = ".st-key-lessons, [data-testid=stPopoverBody]";
  const CARD = "st-key-lesson-card-";
  const VERDICT = "st-key-lesson-verdict-";
  const FIELD = `${PANEL} input:not(:disabled)`;
  const CONTROLS = "a[href], button:not(:disabled), input:not(:disabled)";

  /** @param {string} selector */
  const find = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));

  let inside = false; // the reader is in the panel, or in the menu of lessons
  let place = ""; // key of the container that had the focus
  let card = "";
  let judged = false;

  /** @param {Event} event */
  const note = ({ type, target }) => {
    if (!(target instanceof Element)) return;
    const panel = target.closest(PANEL);
    inside = panel !== null || target.closest(MENU) !== null;
    const keyed = target.closest("[class*=st-key-lesson-]");
    place = type === "focusin" && panel && keyed
      ? [...keyed.classList].find((name) => name.startsWith("st-key-")) ?? "" : "";
  };
  addEventListener("focusin", note);
  addEventListener("pointerdown", note, true);

  const follow = () => {
    const title = find(`[class*=${CARD}]`);
    const key = [...(title?.classList ?? [])].find((name) => name.startsWith(CARD)) ?? "";
    const verdict = key ? find(`.${key.replace(CARD, VERDICT)}`) : null;
    const [before, was] = [card, judged];
    [card, judged] = [key, verdict !== null];
    if (!inside || !title) return;
    if (before !== card) focus(title);
    else if (verdict && !was) focus(verdict);
    else if (!verdict && was) find(FIELD)?.focus();
    else if (place && document.activeElement === document.body) {
      /** @type {HTMLElement | null | undefined} */ (
        find(`.${place}`)?.querySelector(CONTROLS))?.focus({ preventScroll: true });
    }
  };

  /** @param {HTMLElement} element */
  const focus = (element) => {
    element.tabIndex = -1; // Tab goes on from it, and does not stop at it
    element.focus();
  };

  let waiting = 0;
  new MutationObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(follow);
  }).observe(document.documentElement, { childList: true, subtree: true });
}
