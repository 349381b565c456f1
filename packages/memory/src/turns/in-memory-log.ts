import type { Turn } from "../types.ts";
import type { TurnLog } from "./turn-log.ts";

/** Keeps turns of a memory without a folder until they are indexed. */
export function createInMemoryLog(): TurnLog {
  let pending: Turn[] = [];
  return {
    async append(turns) {
      pending.push(...turns);
    },
    async *read(_marks, limit) {
      while (pending.length > 0) yield { turns: pending.splice(0, limit), marks: new Map() };
    },
    async remove(ids) {
      pending = pending.filter(({ id }) => !ids.has(id));
    },
  };
}
