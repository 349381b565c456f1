import type { MiddlewareHandler } from "hono";
import type { Env } from "./middleware.ts";

const ENTRY_POINTS = ["api", "v1", "hooks", "channels", "metrics", "ws"] as const;
/** The first segment of a path, as a label for metrics. */
export type EntryPoint = (typeof ENTRY_POINTS)[number];

/** Statuses of requests that were refused, as opposed to requests for something that does not exist. */
const REFUSALS = new Set([401, 403, 413, 415, 429]);

/** Counts refused requests. They are not logged, because a log line per request would let strangers fill the disk. */
export function countRefused(
  onRefused: (entryPoint: EntryPoint, status: number) => void,
): MiddlewareHandler<Env> {
  return async (context, next) => {
    await next();
    if (!REFUSALS.has(context.res.status)) return;
    const [, first] = context.req.path.split("/", 2);
    const entryPoint = ENTRY_POINTS.find((name) => name === first);
    if (entryPoint !== undefined) onRefused(entryPoint, context.res.status);
  };
}
