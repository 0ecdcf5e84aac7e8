// Part of the page itself: where the focus goes as the open card of a lesson changes.
//
// The button that was pressed is gone then, and a reader without a mouse would begin again at the
// top of the page. The focus goes on to the verdict, to the field that can be answered again, or to
// the title of the next card; Streamlit draws the link anew with the page that it opens.
{
  const PANEL = ".st-key-lesson";
  const MENU = ".st-key-lessons, [data-testid=stPopoverBody]";
  const CARD = "st-key-lesson-card-";
  const FIRST = `${CARD}0`;
  const VERDICT = "st-key-lesson-verdict-";
  const FIELD = `${PANEL} input:not(:disabled)`;
  const UNSENT = `${PANEL} [data-testid=InputInstructions]`;
  const CONTROLS = "a[href], button:not(:disabled), input:not(:disabled)";

  /** @param {string} selector */
  const find = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));

  let inside = false; // the reader is in the panel, or in the menu of lessons
  let aim = ""; // selector of what has the focus, or gets it as soon as it is drawn
  let due = false; // it has yet to get it
  let card = "";
  let judged = false;

  /** @param {Event} event */
  const note = ({ type, target }) => {
    if (!(target instanceof Element)) return;
    const panel = target.closest(PANEL);
    inside = panel !== null || target.closest(MENU) !== null;
    const keyed = target.closest("[class*=st-key-lesson-]");
    const key = keyed && [...keyed.classList].find((name) => name.startsWith("st-key-"));
    // a field that was typed in as the network went lost the focus then, and has sent nothing yet
    if (type === "pointerdown" && target.closest(`${PANEL} button`) && find(UNSENT)) {
      find(FIELD)?.focus({ preventScroll: true });
    }
    if (type === "focusin") due = false;
    aim = type === "focusin" && panel && key ? `.${key}` : "";
    if (aim && target !== keyed) aim += ` :is(${CONTROLS})`;
  };
  addEventListener("focusin", note);
  addEventListener("pointerdown", note, true);

  const follow = () => {
    const title = find(`[class*=${CARD}]`);
    const key = [...(title?.classList ?? [])].find((name) => name.startsWith(CARD)) ?? "";
    const verdict = key && `.${key.replace(CARD, VERDICT)}`;
    const [before, was] = [card, judged];
    [card, judged] = [key, verdict !== "" && find(verdict) !== null];
    if (!inside || !title) return;
    if (before !== card) [aim, due] = [`.${key}`, true];
    else if (judged !== was) [aim, due] = [judged ? verdict : FIELD, true];
    const element = aim && (due || document.activeElement === document.body) ? find(aim) : null;
    if (!element) return;
    if (!element.matches(CONTROLS)) element.tabIndex = -1; // Tab goes on from it, and passes it by
    element.focus({ preventScroll: !due || aim.endsWith(FIRST) }); // above it are goal and text
  };

  let waiting = 0;
  new MutationObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(follow);
  }).observe(document.documentElement, { childList: true, subtree: true });
}
