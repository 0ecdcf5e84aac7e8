// The service worker of a site: a page that was visited opens without a network. Pages and scripts
// come from the network where it is there; the engine keeps the weights itself.

const NAME = "headlight-pages";
const scope = self as unknown as {
  skipWaiting: () => void;
  clients: { claim: () => Promise<void> };
  addEventListener: (name: string, act: (event: any) => void) => void;
};

/** Answer from the network and keep that; without a network, from what was kept. */
async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(NAME);
  const address = request.url.replace(/[?#].*$/, ""); // a link's sentence is read by the page
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(address, response.clone()).catch(() => {}); // no room
    return response;
  } catch (error) {
    const before = await cache.match(address);
    if (before) return before;
    throw error;
  }
}

scope.addEventListener("install", () => scope.skipWaiting());
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const isOwn = method === "GET" && url.startsWith(location.origin) && !url.endsWith(".bin");
  if (isOwn) event.respondWith(answer(event.request));
});
