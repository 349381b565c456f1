import { type CheckedModelUsage, dayOf, eachFigure } from "@signalbox/store/backend";
import type { RunUsage } from "@signalbox/store/types";
import { and, eq, or, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import { groupHistory, type RunRecord, session, usageDay, usageModelDay } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

type Counted = Required<RunUsage>;

/** Adds a run's usage to the sums of its day, also by model. */
export function addUsageOfDay(
  { db, send }: Transaction,
  run: RunRecord,
  counted: Counted,
  models: readonly CheckedModelUsage[],
  at: number,
): void {
  const { agentId, sessionKey, sender } = run;
  const place = { day: dayOf(at), agentId, sessionKey, sender };
  send(
    db
      .insert(usageDay)
      .values({ ...place, runs: 1, ...counted })
      .onConflictDoUpdate({
        target: [usageDay.day, usageDay.agentId, usageDay.sessionKey, usageDay.sender],
        set: addedTo(usageDay),
      }),
  );
  if (models.length === 0) return;
  const t = usageModelDay;

  send(
    db
      .insert(usageModelDay)
      .values(models.map((used) => ({ ...place, ...used })))
      .onConflictDoUpdate({
        target: [t.day, t.agentId, t.sessionKey, t.sender, t.model],
        set: addedTo(usageModelDay),
      }),
  );
}

function addedTo(table: typeof usageDay | typeof usageModelDay) {
  const added = (column: PgColumn) => sql`${column} + ${excludedOf(column)}`;
  return { runs: added(table.runs), ...eachFigure((figure) => added(table[figure])) };
}

const excludedOf = (column: PgColumn) =>
  sql`excluded.${sql.identifier(column.name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))}`;

/** Returns the columns that add a run's usage to the sums of its session. */
export const sumsWith = (counted: Counted) => ({
  runs: sql`${session.runs} + 1`,
  ...eachFigure((figure) => sql`${session[figure]} + ${counted[figure]}`),
});

/** Removes group history entries that a run passed to its model. */
export function forgetTold(
  { db, send }: Transaction,
  told: readonly { readonly conversation: string; readonly id: string }[],
): void {
  if (told.length === 0) return;
  const isTold = told.map(({ conversation, id }) =>
    and(eq(groupHistory.conversation, conversation), eq(groupHistory.entryId, id)),
  );
  send(db.delete(groupHistory).where(or(...isTold)));
}
