import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Entries } from "./entries.ts";
import type { Fence } from "./leases.ts";
import { createOutboxChanges } from "./outbox-changes.ts";
import { createOutboxDue } from "./outbox-due.ts";
import { createOutboxEnds } from "./outbox-ends.ts";
import type { InsertOutbox } from "./outbox-insert.ts";
import { prepareOutbox } from "./outbox-prepare.ts";
import { createOutboxReads } from "./outbox-reads.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { createOutboxSending } from "./outbox-sending.ts";
import type { RunRows } from "./run-rows.ts";
import type { Bodies } from "./types/common.ts";
import type { OutboxStore } from "./types/outbox.ts";

interface Parts<T extends Bodies> {
  readonly fence: Fence;
  readonly rows: OutboxRows<T>;
  readonly insert: InsertOutbox<T>;
  readonly runs: RunRows;
  readonly entries: Entries;
  readonly answers: Answers;
}

export function createOutboxStore<T extends Bodies>(context: Context, parts: Parts<T>): OutboxStore<T> {
  const { fence, insert, runs, answers } = parts;
  const sending = { ...parts, ends: createOutboxEnds(context, answers) };
  return {
    async enqueue(inserts, { lease, runId, sessionKey }) {
      const prepared = prepareOutbox(inserts);
      return context.queue.write(() => {
        fence.check(lease);
        const run = runId === undefined ? undefined : runs.running({ runId, lease });
        const added = insert(prepared, {
          lease,
          ...(run === undefined ? {} : { run, place: runs.repliesOf(run).length }),
          sessionKey: sessionKey ?? run?.sessionKey ?? null,
        });
        if (run !== undefined) runs.addOutbox(run, added);
        return added.map(({ row }) => row);
      });
    },
    ...createOutboxDue(context, sending),
    ...createOutboxSending(context, sending),
    ...createOutboxReads(context, parts),
    ...createOutboxChanges(context, parts),
  };
}
