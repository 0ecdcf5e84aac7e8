// Part of the page itself: the clock of a class, which runs down from the first card that this tab
// opens; a reload does not wind it up.
{
  const tick = () => {
    const clock = /** @type {HTMLElement | null} */ (document.querySelector("[data-clock]"));
    if (!clock) return;
    const name = `clock ${clock.dataset.clock}`;
    const minutes = Number(name.slice(name.lastIndexOf("-") + 1));
    const began = Number(sessionStorage.getItem(name)) || Date.now();
    sessionStorage.setItem(name, String(began));
    const left = Math.max(0, Math.ceil(minutes * 60 - (Date.now() - began) / 1000));
    const text = left
      ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`
      : clock.dataset.over ?? "";
    if (clock.textContent !== text) clock.textContent = text;
  };
  setInterval(tick, 500);
}
