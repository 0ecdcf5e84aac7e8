// Part of the page itself: a sentence where a network lets the page through, but not its WebSocket.
// Streamlit then tries again for ever, and shows nothing but grey bars.
{
  const APP = "[data-test-connection-state]";
  const PATIENCE = 10_000; // ms, from the first attempt
  const REPORT = 'headlight report "A man rides a horse." -o report.html';

  const notice = document.createElement("p"); // empty at first: screen readers read what changes
  notice.className = "hl-blocked";
  notice.role = "status";

  const explain = async () => {
    const answers = await fetch("_stcore/health", { cache: "no-store" })
      .then(({ ok }) => ok, () => false);
    if (!notice.isConnected) return;
    if (!answers) { // it is the server that is away
      setTimeout(explain, PATIENCE);
      return;
    }
    const command = document.createElement("code");
    command.textContent = REPORT;
    notice.append(
      "Something between your browser and the server blocks WebSockets. Without one, this page "
        + "stays empty. Ask your administrator to let them through: “Deploy” in Headlight’s "
        + "documentation has settings for nginx, Caddy and HAProxy. To see every head without a "
        + "server, run ",
      command,
      " on your own machine, and open the file.",
    );
  };

  const observer = new MutationObserver(() => {
    const app = /** @type {HTMLElement | null} */ (document.querySelector(APP));
    if (app?.dataset.testConnectionState === "CONNECTED") {
      notice.remove();
      observer.disconnect();
    } else if (app && !notice.isConnected) {
      app.append(notice);
      setTimeout(explain, PATIENCE);
    }
  });
  observer.observe(document.documentElement, {
    childList: true, subtree: true, attributeFilter: ["data-test-connection-state"],
  });
}
