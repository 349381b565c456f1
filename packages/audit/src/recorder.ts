import type { AuditEntry, AuditHead } from "./chain.ts";
import type { AuditLog } from "./log.ts";
import type { Witness } from "./witness.ts";

export interface RecorderOptions {
  readonly log: AuditLog;
  /** Stores the end of the chain where writers of the log cannot write. */
  readonly witness: Witness;
  /** Takes secrets out of subjects. Default: they stay as they are. */
  readonly redact?: (text: string) => string;
  /** Told what could not be put on record, or noted of its end. */
  readonly onProblem: (problem: "entry" | "head", error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Records decisions without making anyone wait. */
export interface Recorder {
  /** Resolves once it is on record, or could not be. */
  note(entry: Omit<AuditEntry, "at">): Promise<void>;
  /** Resolves once everything is on record, and its end is with the witness. */
  close(): Promise<void>;
}

/** The end of the chain is noted so long after an entry, and holds for all that came meanwhile. */
const WITNESSED_AFTER_MS = 5_000;
const LONGEST_SUBJECT = 500;
/** A secret that begins within the subject is seen whole. */
const MOST_READ = 4_000;

/**
 * Entries go into the commit that is made next anyway: what a decision leads to is written behind it, so that it is on
 * record before its effect is.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { log, witness, redact = (text: string) => text, onProblem, now } = options;
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const noteEnd = async (): Promise<void> => {
    timer = undefined;
    try {
      witness.write(await log.head());
    } catch (error) {
      onProblem("head", error);
    }
  };
  return {
    note(entry) {
      const subject = redact(entry.subject.slice(0, MOST_READ)).slice(0, LONGEST_SUBJECT);
      last = log.append({ ...entry, subject, at: now() }).then(
        () => {},
        (error: unknown) => onProblem("entry", error),
      );
      timer ??= setTimeout(() => void noteEnd(), WITNESSED_AFTER_MS).unref();
      return last;
    },
    async close() {
      await last;
      clearTimeout(timer);
      await noteEnd();
    },
  };
}

/** Whether a log still has what its witness noted; not where the witness cannot be read. */
export async function holdsNoted(
  log: Pick<AuditLog, "list">,
  witness: Pick<Witness, "read">,
): Promise<boolean> {
  try {
    const noted = witness.read();
    return noted === undefined || (await holds(log, noted));
  } catch {
    return false;
  }
}

/** Whether a chain still has the record whose hash was noted. */
async function holds(log: Pick<AuditLog, "list">, { count, hash }: AuditHead): Promise<boolean> {
  if (count === 0) return true;
  const [record] = await log.list({ after: count - 1, limit: 1 });
  return record?.seq === count && record.hash === hash;
}
