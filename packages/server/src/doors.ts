import type { MiddlewareHandler } from "hono";
import type { Env } from "./guard.ts";

/** The ways in, as the first step of a path names them. */
const DOORS = ["api", "v1", "hooks", "channels", "metrics", "ws"] as const;
export type Door = (typeof DOORS)[number];

/** What says that a request was not let in, rather than that it asked for something that is not there. */
const REFUSALS = new Set([401, 403, 413, 415, 429]);

/** Counts what is refused: a line in the log for each would let strangers fill it. */
export function countRefused(onRefused: (door: Door, status: number) => void): MiddlewareHandler<Env> {
  return async (context, next) => {
    await next();
    if (!REFUSALS.has(context.res.status)) return;
    const [, first] = context.req.path.split("/", 2);
    const door = DOORS.find((one) => one === first);
    if (door !== undefined) onRefused(door, context.res.status);
  };
}
