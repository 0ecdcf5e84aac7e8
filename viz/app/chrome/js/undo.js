// Part of the page itself: Ctrl+Z presses the page's button where no field has an undo of its own.
{
  const FIELD = "input:not([type=checkbox], [type=radio], [type=range]), textarea, "
    + "[contenteditable=true]";

  addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    const letter = key.toLowerCase();
    if (!(ctrlKey || metaKey) || altKey || !["y", "z"].includes(letter)) return;
    const [within] = event.composedPath();
    if (within instanceof Element && within.closest(FIELD)) return;
    const name = letter === "y" || shiftKey ? "redo" : "undo";
    const button = document.querySelector(`.st-key-${name} button:not(:disabled)`);
    if (!(button instanceof HTMLElement)) return;
    event.preventDefault();
    button.click();
  }, true);
}
