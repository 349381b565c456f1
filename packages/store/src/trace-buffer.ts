import { decodeIntact, encode } from "./json.ts";
import type { JsonValue } from "./types/common.ts";
import type { TraceStore } from "./types/traces.ts";

/** Time for which entries are buffered, in milliseconds, and the buffer size at which they are written earlier. */
const flushAfterMs = 250;
const flushChars = 262_144;

/** An entry in its stored form. This is an array because object keys would double its size. */
type Stored = readonly [stage: string, at: number, data: JsonValue];

/** A row with entries for one subject, as JSON. */
interface TraceRow {
  readonly subject: string;
  readonly entries: string;
  readonly at: number;
}

interface Waiting {
  /** Encoded as {@link Stored}. */
  readonly entries: string[];
  readonly at: number;
}

export interface BufferedTraceStore extends TraceStore {
  flush(): Promise<void>;
}

export interface TraceTable {
  readonly now: () => number;
  /** Inserts rows in one transaction. */
  readonly write: (rows: readonly TraceRow[]) => Promise<void>;
  /** Returns the entries of a subject's rows, in the order of their insertion. */
  readonly read: (subject: string) => Promise<readonly string[]>;
}

/**
 * Creates a trace store that buffers entries in memory and writes them in batches, because a commit for each
 * entry would be too expensive.
 */
export function createTraceBuffer({ now, write: insert, read }: TraceTable): BufferedTraceStore {
  let waiting = new Map<string, Waiting>();
  let chars = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  /** Resolves when all entries appended so far are written, including the batch of a concurrent flush. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = new Map();
    chars = 0;
    if (batch.size > 0) {
      const rows = [...batch].map(([subject, { entries, at }]) => ({
        subject,
        entries: `[${entries.join(",")}]`,
        at,
      }));
      const write = insert(rows);
      writing = write;
      const done = (): void => {
        if (writing === write) writing = undefined;
      };
      write.then(done, done);
    }
    // Write the batches in order.
    await writing;
  }

  return {
    flush,
    async append(subject, entries) {
      const at = now();
      const encoded = entries.map((entry) => encode([entry.stage, entry.at ?? at, entry.data], "A trace"));
      const group = waiting.get(subject) ?? { entries: [], at };
      group.entries.push(...encoded);
      waiting.set(subject, group);
      for (const text of encoded) chars += text.length;
      // A failed flush loses traces, but no messages. The next awaited call reports the cause.
      if (chars >= flushChars) flush().catch(() => {});
      else timer ??= setTimeout(() => flush().catch(() => {}), flushAfterMs).unref();
    },
    async read(subject) {
      await flush();
      return (await read(subject))
        .flatMap((entries) => decodeIntact<readonly Stored[]>(entries) ?? [])
        .map(([stage, at, data]) => ({ stage, at, data }));
    },
  };
}
