import { eq, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { type DedupeIndex, messageRow } from "./dedupe.ts";
import { type InboxRows, inboxIdOf } from "./inbox-rows.ts";
import { copied } from "./json.ts";
import { checkWaitingHolder } from "./lease-token.ts";
import { type InboxRecord, inbox } from "./schema/index.ts";
import type { Bodies, InboxId } from "./types/common.ts";
import type { InboxChange, InboxStore, PlatformMessage } from "./types/inbox.ts";

/** Creates the methods for messages that were edited or deleted on their platform after they were accepted. */
export function createInboxRevisions<T extends Bodies>(
  { database, queue }: Context,
  rows: InboxRows<T>,
  dedupe: DedupeIndex,
): Pick<InboxStore<T>, "revise" | "withdraw"> {
  const { db } = database;
  const markWithdrawn = database.command((p: Bound<{ seq: number; rule: string; reason: string | null }>) =>
    db
      .update(inbox)
      .set({ rule: p("rule"), reason: p("reason") })
      .where(eq(inbox.seq, p("seq"))),
  );
  const countRevision = database.command((p: Bound<{ seq: number }>) =>
    db
      .update(inbox)
      .set({ revision: sql`${inbox.revision} + 1` })
      .where(eq(inbox.seq, p("seq"))),
  );

  function change(
    message: PlatformMessage | InboxId,
    apply: (row: InboxRecord) => InboxChange,
  ): Promise<InboxChange> {
    return queue.write((): InboxChange => {
      const row = typeof message === "string" ? rows.byId(message) : messageRow(dedupe, message);
      return row === undefined ? { outcome: "unknown" } : apply(row);
    });
  }

  return {
    async revise(message, payload, lease) {
      const copy = copied(payload);
      return change(message, (row) => {
        checkWaitingHolder(row, lease);
        if (isLate(row)) {
          if (row.run === null) rows.setPayload(row, copy);
          return late(row);
        }
        rows.setPayload(row, copy);
        countRevision.run({ seq: row.seq });
        return { outcome: "applied", id: inboxIdOf(row), state: row.state };
      });
    },

    withdraw: (message, detail) =>
      change(message, (row) => {
        const ended = { seq: row.seq, rule: detail?.rule ?? "withdrawn", reason: detail?.reason ?? null };
        if (row.state === "running" && row.rule === null) {
          markWithdrawn.run(ended);
          return { outcome: "applied", id: inboxIdOf(row), state: "running" };
        }
        if (isLate(row)) return late(row);
        rows.end({ ...ended, state: "ignored" });
        return { outcome: "applied", id: inboxIdOf(row), state: "ignored" };
      }),
  };
}

const isLate = ({ state }: InboxRecord): boolean => state !== "accepted" && state !== "queued";

function late(row: InboxRecord): InboxChange {
  return { outcome: "late", id: inboxIdOf(row), state: row.state };
}
