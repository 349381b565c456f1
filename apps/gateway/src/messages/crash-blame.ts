import { readFileSync, writeFileSync } from "node:fs";
import type { KvStore, LeaseToken, Run, RunId } from "@signalbox/store";

/** Maximum number of crashes that do not count against a run because other runs were in progress. */
const MAX_SPARED = 10;
const NAMESPACE = "spared_run";
/** Time after which counts expire, in milliseconds. No run is in progress for this long. */
const TTL_MS = 7 * 24 * 60 * 60 * 1000;

/** A process that ended because of an error. */
interface Crash {
  readonly lease: string;
  readonly epoch: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Decides whether the end of a process counts against an interrupted run. It does if the run was the only one in its
 * process, or if the process ended because of an error. If a person sent a signal to the process, no message is to
 * blame.
 */
export interface CrashBlame {
  /** Compares the runs that recovery found. Call this before they are resumed. */
  compare(interrupted: readonly Pick<Run, "id" | "lease" | "startedAt">[]): void;
  /** Returns true if the end of a run's last process counts against the run. */
  isBlamed(run: Pick<Run, "id" | "lease">): Promise<boolean>;
  /**
   * Records that this process is ending because of an error. Synchronous, because an uncaught exception ends it
   * immediately.
   */
  noteCrash(): void;
}

interface CrashBlameOptions {
  readonly kv: Pick<KvStore, "get" | "set">;
  readonly lease: LeaseToken;
  /** The file that stores the crash of the latest process. */
  readonly noteFile: string;
  readonly now: () => number;
}

export function createCrashBlame({ kv, lease, noteFile, now }: CrashBlameOptions): CrashBlame {
  const blamed = new Set<RunId>();
  const crash = readCrash(noteFile);

  function isOfLastProcess({ name, epoch }: LeaseToken): boolean {
    // Other gateways on the same store have separate leases.
    return name !== lease.name || epoch === lease.epoch - 1;
  }

  return {
    compare(interrupted) {
      for (const runs of Map.groupBy(interrupted, (run) => `${run.lease.epoch} ${run.lease.name}`).values()) {
        for (const run of runs) {
          const hasCrashed =
            crash?.lease === run.lease.name && crash.epoch === run.lease.epoch && run.startedAt <= crash.at;
          if (hasCrashed || (runs.length === 1 && isOfLastProcess(run.lease))) blamed.add(run.id);
        }
      }
    },

    async isBlamed({ id, lease: written }) {
      // A process that stops in an orderly way releases its runs.
      if (written.name === "" || blamed.delete(id)) return true;
      const stored = await kv.get(NAMESPACE, id);
      const spared = typeof stored === "number" ? stored : 0;
      if (spared >= MAX_SPARED) return true;
      await kv.set(NAMESPACE, id, spared + 1, TTL_MS);
      return false;
    },

    noteCrash() {
      const note: Crash = { lease: lease.name, epoch: lease.epoch, at: now() };
      try {
        writeFileSync(noteFile, `${JSON.stringify(note)}\n`, { mode: 0o600 });
      } catch {
        // The process ends anyway.
      }
    },
  };
}

function readCrash(file: string): Crash | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof note !== "object" || note === null) return undefined;
    if (!("lease" in note) || !("epoch" in note) || !("at" in note)) return undefined;
    const { lease, epoch, at } = note;
    if (typeof lease !== "string" || typeof epoch !== "number" || typeof at !== "number") return undefined;
    return { lease, epoch, at };
  } catch {
    return undefined;
  }
}
