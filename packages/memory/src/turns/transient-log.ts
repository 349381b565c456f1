import type { Turn } from "../types.ts";
import type { TurnLog } from "./turn-log.ts";

/** Turns for a memory that ends with its process: they are here until they are indexed. */
export function transientTurnLog(): TurnLog {
  let waiting: Turn[] = [];
  return {
    async append(turns) {
      waiting.push(...turns);
    },
    async *read(_marks, limit) {
      while (waiting.length > 0) yield { turns: waiting.splice(0, limit), marks: new Map() };
    },
    async remove(ids) {
      waiting = waiting.filter(({ id }) => !ids.has(id));
    },
  };
}
