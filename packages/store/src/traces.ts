import { asc, eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { decodeIntact, encode } from "./json.ts";
import { trace } from "./schema/index.ts";
import type { JsonValue } from "./types/common.ts";
import type { TraceStore } from "./types/traces.ts";

/** Time for which entries are buffered, in milliseconds, and the buffer size at which they are written earlier. */
const flushAfterMs = 250;
const flushChars = 262_144;

/** An entry in its stored form. This is an array because object keys would double its size. */
type Stored = readonly [stage: string, at: number, data: JsonValue];

interface Waiting {
  readonly subject: string;
  /** Encoded as {@link Stored}. */
  readonly entries: string[];
  readonly at: number;
}

export interface BufferedTraceStore extends TraceStore {
  flush(): Promise<void>;
}

/**
 * Creates a trace store that buffers entries in memory and writes them in batches, because traces do not justify
 * commits of their own.
 */
export function createTraceStore({ database, queue, now }: Context): BufferedTraceStore {
  const { db } = database;
  const insert = database.insert(trace);
  const ofSubject = database.query((p: Bound<{ subject: string }>) =>
    db
      .select({ entries: trace.entries })
      .from(trace)
      .where(eq(trace.subject, p("subject")))
      .orderBy(asc(trace.n)),
  );
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
      const write = queue.write(() => {
        for (const { subject, entries, at } of batch.values())
          insert.run({ subject, entries: `[${entries.join(",")}]`, at });
      });
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
      const group = waiting.get(subject) ?? { subject, entries: [], at };
      group.entries.push(...encoded);
      waiting.set(subject, group);
      for (const text of encoded) chars += text.length;
      // A failed flush loses traces, but no messages. The next awaited call reports the cause.
      if (chars >= flushChars) flush().catch(() => {});
      else timer ??= setTimeout(() => flush().catch(() => {}), flushAfterMs).unref();
    },
    read: async (subject) => {
      await flush();
      return queue.read(() =>
        ofSubject
          .all({ subject })
          .flatMap(({ entries }) => decodeIntact<readonly Stored[]>(entries) ?? [])
          .map(([stage, at, data]) => ({ stage, at, data })),
      );
    },
  };
}
