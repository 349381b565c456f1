import { keepAliveFetch } from "@signalbox/llm-providers";

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
// A message may be in the request: sent twice it could be seen twice.
const lean = keepAliveFetch({ resend: false });

/**
 * The `fetch` of channels: over Node.js' own HTTP client with kept connections, which costs a message less time and
 * memory than the global one. What that one alone can do (forms, streamed bodies, redirects) is left to it.
 */
export const platformFetch: typeof globalThis.fetch = async (input, init) => {
  if (input instanceof Request || (init?.redirect !== undefined && init.redirect !== "manual")) {
    return globalThis.fetch(input, init);
  }
  const answer = await lean(input, init);
  const method = init?.method?.toUpperCase() ?? "GET";
  if (!REDIRECTS.has(answer.status) || init?.redirect === "manual" || (method !== "GET" && method !== "HEAD"))
    return answer;
  await answer.body?.cancel();
  return globalThis.fetch(input, init);
};
