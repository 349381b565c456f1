import { eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { encode, encodeOptional } from "./json.ts";
import type { Head, MessageChain } from "./messages.ts";
import { session } from "./schema/index.ts";
import type { SessionRows } from "./session-rows.ts";
import type { ImportedGeneration, StoreAdmin } from "./types/admin.ts";
import type { Bodies } from "./types/common.ts";

/** Start of the current history of an imported session. */
interface Cut {
  readonly head: Head;
  readonly floorSeq: number;
  readonly summaryEntry: number | null;
}

/** A generation whose messages are encoded, so that an invalid one is refused before anything is written. */
interface EncodedGeneration {
  readonly entries: readonly { readonly body: string; readonly at: number; readonly replaces?: number }[];
}

/** Creates the method that writes a session of another system with its history and times. */
export function createSessionImport<T extends Bodies>(
  { database, queue }: Context,
  { rows, chain }: { readonly rows: SessionRows; readonly chain: MessageChain<T> },
): StoreAdmin["importSession"] {
  const { db } = database;
  const setHistory = database.command(
    (
      p: Bound<{
        key: string;
        generation: number;
        model: string | null;
        thinking: string | null;
        data: string | null;
        resetAt: number | null;
        lastEntry: number | null;
        lastSeq: number;
        messageCount: number;
        floorSeq: number;
        summaryEntry: number | null;
      }>,
    ) =>
      db
        .update(session)
        .set({
          generation: p("generation"),
          model: p("model"),
          thinking: p("thinking"),
          data: p("data"),
          resetAt: p("resetAt"),
          lastEntry: p("lastEntry"),
          lastSeq: p("lastSeq"),
          messageCount: p("messageCount"),
          floorSeq: p("floorSeq"),
          summaryEntry: p("summaryEntry"),
        })
        .where(eq(session.key, p("key"))),
  );
  const remove = database.command((p: Bound<{ key: string }>) =>
    db.delete(session).where(eq(session.key, p("key"))),
  );

  /** Appends a generation to the chain of a session. */
  function append(
    key: string,
    generation: number,
    { entries }: EncodedGeneration,
    { lastEntry, lastSeq }: Head,
  ): Cut {
    const seqs: number[] = [];
    let cut: Cut = {
      head: { lastEntry, lastSeq, messageCount: 0 },
      floorSeq: lastSeq,
      summaryEntry: null,
    };
    for (const { body, at, replaces } of entries) {
      const place = { sessionKey: key, generation, run: null, at };
      if (replaces === undefined) {
        const head = chain.append(cut.head, place, [body]);
        seqs.push(head.lastSeq);
        cut = { ...cut, head };
        continue;
      }
      const after = chain.appendSummary(cut.head, place, body);
      const floorSeq = seqs[replaces - 1] ?? cut.floorSeq;
      cut = {
        head: { ...after, messageCount: seqs.length - Math.min(replaces, seqs.length) + 1 },
        floorSeq,
        summaryEntry: after.lastEntry,
      };
    }
    return cut;
  }

  return async ({ seed, createdAt, updatedAt, model, thinking, data, generations }, replaces) => {
    const encoded = generations.map(encodeGeneration);
    const dataText = data === undefined ? null : encodeOptional(data, "The data of a session");
    return queue.write(() => {
      const present = rows.load(seed.key);
      if (present !== undefined) {
        if (present.active !== undefined || present.record.lastSeq !== replaces) return { outcome: "exists" };
        chain.remove(present.record, seed.key);
        remove.run({ key: seed.key });
      }
      const record = rows.create(seed, createdAt);
      let cut: Cut = {
        head: { lastEntry: null, lastSeq: 0, messageCount: 0 },
        floorSeq: 0,
        summaryEntry: null,
      };
      for (const [generation, entries] of encoded.entries())
        cut = append(seed.key, generation, entries, cut.head);
      setHistory.run({
        key: seed.key,
        generation: Math.max(0, generations.length - 1),
        model: model ?? null,
        thinking: thinking ?? null,
        data: dataText ?? null,
        resetAt: generations.length > 1 ? (generations.at(-1)?.startedAt ?? updatedAt) : null,
        ...cut.head,
        floorSeq: cut.floorSeq,
        summaryEntry: cut.summaryEntry,
      });
      rows.touch(record, updatedAt);
      return { outcome: "imported", lastSeq: cut.head.lastSeq };
    });
  };
}

function encodeGeneration({ entries }: ImportedGeneration): EncodedGeneration {
  return {
    entries: entries.map(({ message, at, replaces }) => ({
      body: encode(message, "A message"),
      at,
      replaces,
    })),
  };
}
