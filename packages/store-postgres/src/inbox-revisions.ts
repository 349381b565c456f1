import { checkWaitingHolder, encode } from "@signalbox/store/backend";
import type { Bodies, InboxChange, InboxId, InboxStore, PlatformMessage } from "@signalbox/store/types";
import type { Context } from "./context.ts";
import { lockPlatformMessage } from "./dedupe.ts";
import { inboxIdOf, lockMessage, updateMessage } from "./inbox-rows.ts";
import type { InboxRecord } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Creates the methods for messages that were edited or deleted on their platform after they were accepted. */
export function createInboxRevisions<T extends Bodies>({
  database,
}: Context): Pick<InboxStore<T>, "revise" | "withdraw"> {
  function change(
    message: PlatformMessage | InboxId,
    apply: (tx: Transaction, row: InboxRecord, at: number) => InboxChange,
  ): Promise<InboxChange> {
    return database.write(async (tx) => {
      const locked =
        typeof message === "string" ? lockMessage(tx, message) : lockPlatformMessage(tx, message);
      const [row, at] = await Promise.all([locked, tx.now]);
      return row === undefined ? { outcome: "unknown" } : apply(tx, row, at);
    });
  }

  return {
    async revise(message, payload, lease) {
      const text = encode(payload, "The payload of a changed message");
      return change(message, (tx, row) => {
        checkWaitingHolder(row, lease);
        if (isLate(row)) {
          if (row.run === null) updateMessage(tx, row.seq, { payload: text });
          return late(row);
        }
        updateMessage(tx, row.seq, { payload: text, revision: row.revision + 1 });
        return { outcome: "applied", id: inboxIdOf(row), state: row.state };
      });
    },

    withdraw: (message, detail) =>
      change(message, (tx, row, at) => {
        const ended = { rule: detail?.rule ?? "withdrawn", reason: detail?.reason ?? null };
        if (row.state === "running" && row.rule === null) {
          updateMessage(tx, row.seq, ended);
          return { outcome: "applied", id: inboxIdOf(row), state: "running" };
        }
        if (isLate(row)) return late(row);
        updateMessage(tx, row.seq, { ...ended, state: "ignored", settledAt: at });
        return { outcome: "applied", id: inboxIdOf(row), state: "ignored" };
      }),
  };
}

const isLate = ({ state }: InboxRecord): boolean => state !== "accepted" && state !== "queued";

function late(row: InboxRecord): InboxChange {
  return { outcome: "late", id: inboxIdOf(row), state: row.state };
}
