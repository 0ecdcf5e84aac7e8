// Part of the page itself, before Streamlit's scripts: one action of the reader is one entry of the
// browser's history.
//
// Streamlit makes no entry where a reader changes a widget, and one for each value that Python
// sets. Here the first change of the address after an action makes the entry, and all that follow
// from the same action change it. What is typed into one field is one action, until another one
// comes or all of it is replaced.
{
  // the folder of the address is the server's: without this Streamlit asks below the page, too
  Object.assign(window, { __streamlit: { BACKEND_BASE_URL: new URL(".", location.href).href } });

  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let acted = false;
  let restored = false; // the reader went Back or Forward, and has not acted since
  /** @type {EventTarget | undefined} */
  let field;

  /** @type {typeof history.pushState} */
  const write = (state, unused, url) => {
    const moves = url != null && new URL(url, location.href).href !== location.href;
    if (moves && restored) return; // what comes late is of another entry
    (moves && acted ? push : replace)(state, unused, url);
    if (moves) acted = false;
  };
  history.pushState = write;
  history.replaceState = write;

  const act = () => {
    acted = true;
    restored = false;
    field = undefined;
  };

  /** @param {Event} event */
  const target = (event) => event.composedPath()[0];

  /**
   * @param {EventTarget} element
   * @returns {element is HTMLInputElement | HTMLTextAreaElement}
   */
  const isField = (element) =>
    element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;

  addEventListener("pointerdown", act, true);
  addEventListener("keydown", (event) => {
    const typed = isField(target(event)) && event.key !== "Enter";
    if (event.isTrusted && !event.repeat && !typed) act();
  }, true);
  addEventListener("beforeinput", (event) => {
    const element = target(event);
    if (!isField(element)) return;
    const { value, selectionStart, selectionEnd } = element;
    const all = value !== "" && selectionStart === 0 && selectionEnd === value.length;
    if (element !== field || all) act();
    field = element;
  }, true);
  addEventListener("popstate", () => {
    acted = false;
    restored = true;
    field = undefined;
  }, true);
}
