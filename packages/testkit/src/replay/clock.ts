import type { ReplayClock } from "./host.ts";

/** A clock that starts at any time and can be advanced. */
export interface ScenarioClock extends ReplayClock {
  /** Advances the clock and calls the tasks that are due. */
  advance(ms: number): void;
}

interface Waiting {
  readonly dueAt: number;
  readonly task: () => void;
}

/** @param startsAt milliseconds since the epoch */
export function createScenarioClock(startsAt: number): ScenarioClock {
  let ahead = startsAt - Date.now();
  const waiting = new Map<Waiting, NodeJS.Timeout>();
  const now = (): number => Date.now() + ahead;

  const take = (entry: Waiting): void => {
    clearTimeout(waiting.get(entry));
    if (waiting.delete(entry)) entry.task();
  };

  return {
    now,
    after(ms, task) {
      const entry = { dueAt: now() + ms, task };
      waiting.set(entry, setTimeout(() => take(entry), ms).unref());
      return {
        cancel() {
          clearTimeout(waiting.get(entry));
          waiting.delete(entry);
        },
      };
    },
    advance(ms) {
      ahead += ms;
      for (const entry of [...waiting.keys()]) if (entry.dueAt <= now()) take(entry);
    },
  };
}

const UNITS = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** Returns the milliseconds of a time span such as `1h 30m`. */
export function msOf(span: string): number {
  const parts = span.matchAll(/(\d+)([smhd])/g);
  return [...parts].reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS.get(unit) ?? 0), 0);
}
