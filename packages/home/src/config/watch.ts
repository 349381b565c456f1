import { statSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { type Home, locateHome } from "../layout.ts";

/** Polling interval, in milliseconds. Polling also works on volumes that send no change events. */
const POLL_MS = 1_000;

/** Detects changes of the configuration since the creation of this object. */
export interface ConfigWatch {
  /** Calls `listener` after each change, including changes before this call. */
  onChange(listener: () => void): void;
  stop(): void;
}

/**
 * Watches the configuration of a home. Create it before reading the configuration. It polls the configuration files,
 * since the gateway writes other files in their folder all the time, an editor may replace a file, and a first file may
 * have any of the supported names.
 */
export function watchConfig({ dir }: Pick<Home, "dir">): ConfigWatch {
  const state = (): string => {
    const { configFile, otherConfigFiles } = locateHome(dir, {});
    return [configFile, ...otherConfigFiles].map(getFileState).join();
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
      }, POLL_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Returns a text that differs after each change of the file. */
function getFileState(file: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino} ${mtimeNs} ${size}`;
  } catch (error) {
    return reasonOf(error);
  }
}
