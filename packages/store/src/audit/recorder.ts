import type { AuditEvent, AuditHead, AuditLog } from "../types/audit.ts";
import type { Witness } from "./witness.ts";

export interface RecorderOptions {
  readonly log: AuditLog;
  readonly witness: Witness;
  /** Removes secrets from subjects. */
  readonly redact: (text: string) => string;
  /** Called if an event could not be appended (`entry`) or the head could not be written to the witness (`head`). */
  readonly onProblem: (problem: "entry" | "head", error: unknown) => void;
  readonly now: () => number;
}

/** Appends events in the background, so that callers do not wait. */
export interface Recorder {
  /** Resolves once the event is durable or has failed; never rejects. */
  note(event: Omit<AuditEvent, "at">): Promise<void>;
  /** Waits for pending events, then writes the head to the witness. */
  close(): Promise<void>;
}

/** Delay between an event and the update of the witness, in milliseconds. Events in between share the update. */
const WITNESS_DELAY_MS = 5_000;
const MAX_SUBJECT_CHARS = 500;
/**
 * Maximum number of characters to redact. The subject is truncated after the redaction, so that a secret at the cut is
 * still recognized.
 */
const MAX_REDACTED_CHARS = 4_000;

/**
 * Creates a recorder. Each event is committed no later than the write that follows it, so a decision is durable before
 * its effects are.
 */
export function createRecorder({ log, witness, redact, onProblem, now }: RecorderOptions): Recorder {
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const updateWitness = async (): Promise<void> => {
    timer = undefined;
    try {
      witness.write(await log.head());
    } catch (error) {
      onProblem("head", error);
    }
  };
  return {
    note(event) {
      const subject = redact(event.subject.slice(0, MAX_REDACTED_CHARS)).slice(0, MAX_SUBJECT_CHARS);
      last = log
        .append({ ...event, subject, at: now() })
        .catch((error: unknown) => onProblem("entry", error));
      timer ??= setTimeout(() => void updateWitness(), WITNESS_DELAY_MS).unref();
      return last;
    },
    async close() {
      await last;
      clearTimeout(timer);
      await updateWitness();
    },
  };
}

/**
 * Returns whether the log still contains the head that the witness stored. Returns false if that head cannot be read.
 */
export async function matchesWitness(
  log: Pick<AuditLog, "list">,
  witness: Pick<Witness, "read">,
): Promise<boolean> {
  try {
    const noted = witness.read();
    return noted === undefined || (await contains(log, noted));
  } catch {
    return false;
  }
}

async function contains(log: Pick<AuditLog, "list">, { count, hash }: AuditHead): Promise<boolean> {
  if (count === 0) return true;
  const [entry] = await log.list({ after: count - 1, limit: 1 });
  return entry?.seq === count && entry.hash === hash;
}
