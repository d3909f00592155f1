// Keeps the files of the site, so that the page works without a network after a visit. It asks the
// network first; the files of an engine never change, because the name of their folder does.
const CACHE = "lab";
const isEngine = (address) => /\/engine-\w+\//.test(address);

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && new URL(url).origin === self.location.origin) event.respondWith(answer(event.request));
});

async function answer(request) {
  const cache = await caches.open(CACHE);
  const kept = () => cache.match(request, { ignoreSearch: true });
  if (isEngine(request.url)) return (await kept()) ?? fetched(cache, request);
  try {
    return await fetched(cache, request);
  } catch (error) {
    const response = await kept();
    if (response) return response;
    throw error;
  }
}

async function fetched(cache, request) {
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

// The page says which files it used before it was controlled; engines of earlier versions go.
self.addEventListener("message", (event) => event.waitUntil(keep(event.data.keep)));

async function keep(addresses) {
  const cache = await caches.open(CACHE);
  for (const { url } of await cache.keys()) {
    if (isEngine(url) && !addresses.includes(url)) await cache.delete(url);
  }
  for (const address of addresses) {
    if (!(await cache.match(address))) await cache.add(address);
  }
}
