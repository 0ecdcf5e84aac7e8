// Part of the page itself: the box of the sentence answers while one types.
//
// A text area of Streamlit takes what was typed on Ctrl+Enter alone. Here it gets that after each
// pause, and on Enter; a sentence has no lines.
{
  const PAUSE = 250; // ms
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  /** @param {EventTarget | null} element @returns {element is HTMLTextAreaElement} */
  const isBox = (element) =>
    element instanceof HTMLTextAreaElement && element.closest(".st-key-text") !== null;

  /** @param {HTMLTextAreaElement} box */
  const take = (box) => {
    clearTimeout(waiting);
    box.dispatchEvent(new KeyboardEvent("keydown", {
      key: "Enter", ctrlKey: true, bubbles: true, cancelable: true,
    }));
  };

  addEventListener("input", ({ target }) => {
    if (!isBox(target)) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => take(target), PAUSE);
  }, true);
  // Streamlit takes what stands in a box that is left
  addEventListener("blur", () => clearTimeout(waiting), true);
  addEventListener("keydown", (event) => {
    const { target, key, isTrusted, isComposing } = event;
    if (!isBox(target) || !isTrusted || isComposing) return;
    if (key === "Alt" || key === "Meta") take(target); // what may follow is Alt+Left, for Back
    if (key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    take(target);
  }, true);
}
