import { eq } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { type OutboxRecord, outbox } from "./schema/index.ts";
import type { OutboxState, PartReceipt } from "./types/outbox.ts";

interface Outcome {
  readonly state: OutboxState;
  readonly receipts: readonly PartReceipt[];
  readonly nextAt: number;
  readonly error: string | null;
}

/** Records the outcome of a delivery attempt and releases the row. */
export interface OutboxEnds {
  end(row: OutboxRecord, state: OutboxState, changes?: Partial<Omit<Outcome, "state">>): void;
  /** Ends a row that will not be sent, and updates the messages that it answers. */
  undelivered(row: OutboxRecord, state: "dead" | "expired", why: string): void;
}

export function createOutboxEnds({ database, now }: Context, answers: Answers): OutboxEnds {
  const setOutcome = database.command((p: Bound<Outcome & { seq: number; at: number }>) =>
    database.db
      .update(outbox)
      .set({
        state: p("state"),
        receipts: p("receipts"),
        nextAt: p("nextAt"),
        error: p("error"),
        leaseName: null,
        leaseEpoch: null,
        updatedAt: p("at"),
      })
      .where(eq(outbox.seq, p("seq"))),
  );
  const end: OutboxEnds["end"] = ({ seq, receipts = [], nextAt }, state, changes) => {
    setOutcome.run({ seq, state, receipts, nextAt, error: null, ...changes, at: now() });
  };

  return {
    end,
    undelivered(row, state, why) {
      end(row, state, { error: why });
      answers.undelivered(row, why);
    },
  };
}
