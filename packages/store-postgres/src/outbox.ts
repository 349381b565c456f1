import { prepareOutbox } from "@signalbox/store/backend";
import type { Bodies, OutboxStore } from "@signalbox/store/types";
import { eq } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { createOutboxChanges } from "./outbox-changes.ts";
import { createOutboxDue } from "./outbox-due.ts";
import type { ReadOutbox } from "./outbox-insert.ts";
import { createOutboxReads } from "./outbox-reads.ts";
import { createOutboxSending } from "./outbox-sending.ts";
import { lockRunning, withReplies } from "./run-rows.ts";
import { run } from "./schema/index.ts";

export function createOutboxStore<T extends Bodies>(
  context: Context,
  fence: Fence,
  readOutbox: ReadOutbox<T>,
): OutboxStore<T> {
  return {
    async enqueue(inserts, { lease, runId, sessionKey }) {
      const prepared = prepareOutbox(inserts);
      const [first] = inserts;
      const order = `enqueue ${first?.channel} ${first?.account} ${first?.address}`;
      return context.database.write(async (tx) => {
        const [, made, write, at] = await Promise.all([
          fence.check(tx, lease),
          runId === undefined ? undefined : lockRunning(tx, fence, { runId, lease }),
          readOutbox(tx, prepared),
          tx.now,
        ]);
        const added = write(
          prepared,
          {
            lease,
            ...(made === undefined ? {} : { run: made, place: made.outbox.length }),
            sessionKey: sessionKey ?? made?.sessionKey ?? null,
          },
          at,
        );
        if (made !== undefined) {
          const replies = withReplies(made.outbox, added);
          tx.send(tx.db.update(run).set({ outbox: replies }).where(eq(run.n, made.n)));
        }
        return added.map(({ row }) => row);
      }, order);
    },
    ...createOutboxDue<T>(context, fence, readOutbox),
    ...createOutboxSending<T>(context, fence, readOutbox),
    ...createOutboxReads<T>(context),
    ...createOutboxChanges<T>(context),
  };
}
