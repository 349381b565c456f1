import { statSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { type Home, locateHome } from "../layout.ts";

/** How often the files are looked at, in milliseconds: also where a volume tells of no change. */
const LOOK_MS = 1_000;

/** Sees changes of the configuration, from the moment at which it was made. */
export interface ConfigWatch {
  /** Calls back for each change, also for one that came before this. */
  onChange(listener: () => void): void;
  stop(): void;
}

/**
 * Watches the configuration of a home, to be made before that is read. Its files are looked at by themselves, since
 * what the gateway writes all the time lies in the same folder; an editor may put another file in the place of one, and
 * the first one comes under any of the names.
 */
export function watchConfig({ dir }: Pick<Home, "dir">): ConfigWatch {
  const state = (): string => {
    const { configFile, otherConfigFiles } = locateHome(dir, {});
    return [configFile, ...otherConfigFiles].map(stateOf).join();
  };
  let seen = state();
  let timer: NodeJS.Timeout | undefined;
  return {
    onChange(listener) {
      timer = setInterval(() => {
        const now = state();
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
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino} ${mtimeNs} ${size}`;
  } catch (error) {
    return reasonOf(error);
  }
}
