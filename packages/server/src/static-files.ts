import { existsSync } from "node:fs";
import { serveStatic } from "@hono/node-server/serve-static";
import type { MiddlewareHandler } from "hono";

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  vary: "accept-encoding",
};

/**
 * Serves the files of the web page. A file with a `.br` or `.gz` sibling is served compressed if the browser accepts
 * it. Files under `/assets/` have a hash in their name, so browsers may keep them for a year.
 *
 * @param dir folder of the page; if it does not exist, every request falls through to the next handler
 */
export function staticFiles(dir: string): MiddlewareHandler {
  if (!existsSync(dir)) return (_context, next) => next();
  const serve = serveStatic({ root: dir, precompressed: true });
  return async (context, next) => {
    const response: unknown = await serve(context, next);
    // For a path without a file, `serve` returns whatever `next` returned.
    if (!(response instanceof Response)) return undefined;
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.headers.set(name, value);
    const isImmutable = context.req.path.startsWith("/assets/");
    response.headers.set("cache-control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
    return response;
  };
}
