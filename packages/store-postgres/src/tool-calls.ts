import { decodeIntact, type PreparedIntent, rowOf } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type { JournalCall, JsonValue } from "@signalbox/store/types";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { runIdOf } from "./run-rows.ts";
import { type RunRecord, toolCall } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Adds the calls that the model requested. */
export function addCalls(
  { db, send }: Transaction,
  run: RunRecord,
  intents: readonly PreparedIntent[],
): void {
  if (intents.length === 0) return;
  const last = sql`(SELECT coalesce(max(n), 0) FROM ${toolCall} AS earlier WHERE earlier.run = ${run.n})`;
  const rows = intents.map(({ intent, args }, index) => ({
    ...intent,
    run: run.n,
    n: sql`${last} + ${index + 1}`,
    args,
    state: "intent" as const,
  }));
  send(db.insert(toolCall).values(rows));
}

/** Returns the ids of the calls that a run has recorded. */
export async function readCallIds({ db }: Transaction, runId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .select({ callId: toolCall.callId })
    .from(toolCall)
    .where(eq(toolCall.run, rowOf(runId) ?? 0));
  return new Set(rows.map(({ callId }) => callId));
}

/** @throws StoreError `not_found` if a call is not among the `recorded` ones */
export function markCalls(
  { db, send }: Transaction,
  run: RunRecord,
  recorded: ReadonlySet<string>,
  callIds: readonly string[],
  state: "started" | "done",
): void {
  const unknown = callIds.find((callId) => !recorded.has(callId));
  if (unknown !== undefined) {
    throw new StoreError(
      "not_found",
      `Run ${runIdOf(run)} has no tool call "${unknown}". Record its intent first.`,
    );
  }
  const isMarked = and(eq(toolCall.run, run.n), inArray(toolCall.callId, [...callIds]));
  send(db.update(toolCall).set({ state }).where(isMarked));
}

/** Returns a run's calls in the order in which they were requested. */
export async function readCalls({ db }: Transaction, run: RunRecord): Promise<JournalCall[]> {
  const rows = await db.select().from(toolCall).where(eq(toolCall.run, run.n)).orderBy(asc(toolCall.n));
  return rows.flatMap(({ args: text, callId, name, effects, state }) => {
    const args = decodeIntact<JsonValue>(text);
    return args === undefined ? [] : [{ callId, name, args, effects, state }];
  });
}
