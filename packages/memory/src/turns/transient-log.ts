import type { Turn } from "../types.ts";
import type { TurnLog } from "./turn-log.ts";

/** Turns for a memory that ends with its process: they are here until they are indexed. */
export function transientTurnLog(): TurnLog {
  let waiting: Turn[] = [];
  return {
    async append(turns) {
      waiting.push(...turns);
    },
    async read(_marks, limit) {
      const turns = waiting.slice(0, limit);
      waiting = waiting.slice(limit);
      return { turns, marks: new Map(), last: waiting.length === 0 };
    },
    async remove(ids) {
      waiting = waiting.filter(({ id }) => !ids.has(id));
    },
  };
}
