import type { Context } from "./context.ts";
import { rowOf } from "./ids.ts";
import { decode } from "./json.ts";
import type { OutboxRecord } from "./records.ts";
import type { InboxId } from "./types/common.ts";
import type { InboxFinalState } from "./types/inbox.ts";

/** Which messages a row of the outbox answers, and what its fate makes of them. */
export interface Answers {
  of(row: OutboxRecord): readonly InboxId[];
  /** The reply never came: messages that count as replied have another end. Gives those. */
  undelivered(
    row: OutboxRecord,
    state: Extract<InboxFinalState, "failed-reported" | "expired-reported">,
    why: string,
  ): readonly InboxId[];
  /** The reply is on its way after all: they count as replied again. */
  reopened(row: OutboxRecord): void;
  /** A message has its end as replied just now: where its reply was given up before that, it has another. */
  settled(seq: number): void;
}

interface Answered {
  readonly seq: number;
  readonly id: InboxId;
}

/** How the reason of a message begins whose reply did not come. */
const MARK = "undelivered: ";

export function createAnswers({ database }: Pick<Context, "database">): Answers {
  const runOf = database.query<[number], { run: number | null }>("SELECT run FROM entry WHERE id = ?");
  // Messages that a run gave back to their queue are another run's.
  const ofRun = database.query<[number], Answered>(
    `SELECT inbox.seq, inbox.id FROM run, json_each(run.inbox) AS taken JOIN inbox ON inbox.seq = taken.value
     WHERE run.n = ?1 AND inbox.run = ?1 ORDER BY inbox.seq`,
  );
  const byNumber = database.query<[number], Answered>("SELECT seq, id FROM inbox WHERE seq = ?");
  const endUndelivered = database.command<[string, string, number]>(
    `UPDATE inbox SET state = ?, rule = coalesce(rule, 'undelivered'), reason = ? WHERE seq = ? AND state = 'replied'`,
  );
  const reply = database.command<[number]>(
    `UPDATE inbox SET state = 'replied', rule = nullif(rule, 'undelivered'), reason = NULL
     WHERE seq = ? AND state IN ('failed-reported', 'expired-reported') AND reason LIKE '${MARK}%'`,
  );

  // The index of rows that were given up has these states.
  const givenUp = database.query<[string], { state: string; error: string | null }>(
    "SELECT state, error FROM outbox WHERE state IN ('dead', 'uncertain', 'expired') AND answers = ?",
  );

  function answered(row: OutboxRecord): readonly Answered[] {
    if (row.answers !== null) return decode<number[]>(row.answers).flatMap((seq) => byNumber.get(seq) ?? []);
    const run = runOf.get(row.entry)?.run ?? null;
    return run === null ? [] : ofRun.all(run);
  }

  return {
    of: (row) => answered(row).map(({ id }) => id),
    undelivered: (row, state, why) =>
      answered(row).flatMap(({ seq, id }) => (endUndelivered.run(state, MARK + why, seq) === 0 ? [] : [id])),
    settled(seq) {
      for (const row of givenUp.all(JSON.stringify([seq]))) {
        if (row.state === "uncertain") continue;
        const state = row.state === "dead" ? "failed-reported" : "expired-reported";
        endUndelivered.run(state, MARK + (row.error ?? "given up"), seq);
      }
    },
    reopened(row) {
      for (const { seq } of answered(row)) reply.run(seq);
    },
  };
}

/** As the column has them; undefined where there are none. */
export function answersText(ids: readonly InboxId[] | undefined): string | null {
  const seqs = (ids ?? []).flatMap((id) => rowOf(id) ?? []);
  return seqs.length === 0 ? null : JSON.stringify(seqs);
}
