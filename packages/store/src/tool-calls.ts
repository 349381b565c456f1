import { and, asc, eq, max } from "drizzle-orm";
import type { Bound, Database } from "./database.ts";
import { StoreError } from "./errors.ts";
import { decodeIntact } from "./json.ts";
import { runIdOf } from "./run-rows.ts";
import { type RunRecord, toolCall } from "./schema/index.ts";
import type { PreparedIntent } from "./tool-intents.ts";
import type { JsonValue } from "./types/common.ts";
import type { JournalCall } from "./types/runs.ts";

/** Access to the tool calls of runs. */
export interface ToolCalls {
  add(run: RunRecord, intents: readonly PreparedIntent[]): void;
  /** @throws StoreError `not_found` if a call was not added before */
  mark(run: RunRecord, callIds: readonly string[], state: "started" | "done"): void;
  /** Returns a run's undamaged calls. */
  of(run: RunRecord): JournalCall[];
}

export function createToolCalls(database: Database): ToolCalls {
  const { db } = database;
  const last = database.query((p: Bound<{ run: number }>) =>
    db
      .select({ n: max(toolCall.n) })
      .from(toolCall)
      .where(eq(toolCall.run, p("run"))),
  );
  const insert = database.insert(toolCall);
  const setState = database.command((p: Bound<{ run: number; callId: string; state: "started" | "done" }>) =>
    db
      .update(toolCall)
      .set({ state: p("state") })
      .where(and(eq(toolCall.run, p("run")), eq(toolCall.callId, p("callId")))),
  );
  const ofRun = database.query((p: Bound<{ run: number }>) =>
    db
      .select()
      .from(toolCall)
      .where(eq(toolCall.run, p("run")))
      .orderBy(asc(toolCall.n)),
  );

  return {
    add(run, intents) {
      if (intents.length === 0) return;
      const first = (last.get({ run: run.n })?.n ?? 0) + 1;
      for (const [index, { intent, args }] of intents.entries())
        insert.run({ ...intent, run: run.n, n: first + index, args, state: "intent" });
    },
    mark(run, callIds, state) {
      for (const callId of callIds) {
        if (setState.run({ run: run.n, callId, state }).changes > 0) continue;
        throw new StoreError(
          "not_found",
          `Run ${runIdOf(run)} has no tool call "${callId}". Record its intent first.`,
        );
      }
    },
    of: (run) =>
      ofRun.all({ run: run.n }).flatMap(({ args: text, callId, name, effects, state }) => {
        const args = decodeIntact<JsonValue>(text);
        return args === undefined ? [] : [{ callId, name, args, effects, state }];
      }),
  };
}
