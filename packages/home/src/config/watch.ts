import { statSync } from "node:fs";
import type { Home } from "../layout.ts";

/** How often the file is looked at, in milliseconds: also where a volume tells of no change. */
const LOOK_MS = 1_000;

/** Sees changes of the configuration file, from the moment at which it was made. */
export interface ConfigWatch {
  /** Calls back for each change, also for one that came before this. */
  onChange(listener: () => void): void;
  stop(): void;
}

/**
 * Watches the configuration file of a home, to be made before that is read. The file is looked at by itself, since what
 * the gateway writes all the time lies in the same folder; an editor may put another file in its place.
 */
export function watchConfig({ configFile }: Pick<Home, "configFile">): ConfigWatch {
  let seen = stateOf(configFile);
  let timer: NodeJS.Timeout | undefined;
  return {
    onChange(listener) {
      timer = setInterval(() => {
        const now = stateOf(configFile);
        if (now === seen) return;
        seen = now;
        listener();
      }, LOOK_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** What is another after each change. */
function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "" : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
}
