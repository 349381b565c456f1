import { reasonOf } from "@signalbox/agent-core";
import type { BackupsConfig } from "@signalbox/config";
import {
  configuredPath,
  GatewayError,
  type Home,
  type HomeLogger,
  listScheduledBackups,
  rotateBackups,
} from "@signalbox/home";

/** Interval of the check for a due backup, in milliseconds. */
const CHECK_MS = 10 * 60_000;
/** Maximum number of omitted files in the log entry of a backup. */
const LISTED_FILES = 20;
const HOUR_MS = 3_600_000;

export interface ScheduledBackupsOptions {
  readonly home: Home;
  /** Returns the current settings. Called for each check. */
  readonly settings: () => BackupsConfig;
  readonly logger: HomeLogger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Backups that the gateway makes itself. */
export interface ScheduledBackups {
  start(): void;
  /** Makes a backup if one is due. Never rejects. */
  check(): Promise<void>;
  stop(): void;
}

/** Creates the schedule of `backups.everyHours`. The next backup is due that long after the last one in the folder. */
export function createScheduledBackups({
  home,
  settings,
  logger,
  now,
}: ScheduledBackupsOptions): ScheduledBackups {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function makeIfDue(): Promise<void> {
    const { everyHours, keep, secrets, dir } = settings();
    if (everyHours === undefined) return;
    const place = configuredPath(home, dir);
    try {
      const last = (await listScheduledBackups(place)).at(-1);
      if (last !== undefined && now() - last.at < everyHours * HOUR_MS) return;
      const made = await rotateBackups(home, { dir: place, keep, secrets }, new Date(now()));
      // Links, special files and files that are not readable.
      const leftOut = made.home.leftOut.slice(0, LISTED_FILES);
      logger.info({ path: made.path, removed: made.removed, leftOut }, "a backup was made and tested");
    } catch (error) {
      logger.error(
        {
          dir: place,
          err: reasonOf(error),
          remedy:
            error instanceof GatewayError && error.code === "usage"
              ? "remove backups.everyHours"
              : "check that the folder is writable and the disk has space",
        },
        "the scheduled backup failed",
      );
    }
  }

  function check(): Promise<void> {
    running ??= makeIfDue().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    start() {
      timer = setInterval(() => void check(), CHECK_MS).unref();
      void check();
    },
    check,
    stop: () => clearInterval(timer),
  };
}
