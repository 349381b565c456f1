import { END_REASONS, isEndReason } from "@signalbox/agent-core";
import { getTurnTexts, parseReply } from "@signalbox/prompt";
import { type InboxId, parseId } from "@signalbox/store";
import { readSessionTaint, type TaintSource } from "@signalbox/tools";
import type { TaskEnd, TaskOutcome } from "./sub-agents/types.ts";
import type { TriggerStore } from "./types.ts";

/** Maximum length of a result in the report, in characters. `sessions_history` returns the rest. */
const MAX_CHARS = 20_000;

export type TaskEndStore = Pick<TriggerStore, "inbox" | "runs" | "sessions">;

type Row = NonNullable<Awaited<ReturnType<TaskEndStore["inbox"]["get"]>>>;

/**
 * Returns the outcome of a message that contained a task. The outcome is read from the store, so it is the same after a
 * crash.
 */
export async function endOfTask(
  store: TaskEndStore,
  messageId: string,
  sessionKey: string,
): Promise<TaskEnd<readonly TaintSource[]> | undefined> {
  const id = parseId<InboxId>(messageId);
  const row = id === undefined ? undefined : await store.inbox.get(id);
  if (row === undefined) return { outcome: "failed", text: "The outcome is no longer known.", gained: [] };
  const outcome = getOutcome(row);
  if (outcome === undefined) return undefined;
  const gained = readSessionTaint((await store.sessions.get(sessionKey))?.data)?.sources ?? [];
  return { outcome, text: shortened(await readAnswer(store, row, outcome)), gained };
}

function getOutcome({ state, detail }: Row): TaskOutcome | undefined {
  switch (state) {
    case "accepted":
    case "queued":
    case "running":
      return undefined;
    case "replied":
    case "silent":
      return outcomeByRule(detail?.rule);
    case "ignored":
      return "stopped";
    case "failed-reported":
    case "expired-reported":
    case "unreported":
      return "failed";
  }
}

/**
 * Returns the outcome of a task whose run ended without an error. The rule of the run shows whether a limit ended it
 * early.
 */
function outcomeByRule(rule: string | undefined): TaskOutcome {
  if (rule === "stopped") return "stopped";
  return isEndReason(rule) && !END_REASONS[rule].complete ? "cut" : "done";
}

async function readAnswer(
  { runs }: Pick<TriggerStore, "runs">,
  { runId, detail }: Row,
  outcome: TaskOutcome,
): Promise<string> {
  const ended = runId === undefined ? undefined : await runs.inspect(runId);
  const said = getTurnTexts(ended?.messages.map(({ message }) => message) ?? []);
  const text = parseReply(said.at(-1) ?? "").text.trim();
  const why = ended?.run.error ?? detail?.reason ?? detail?.rule;
  if (outcome === "done") return text === "" ? "It returned no text." : text;
  return [...(why === undefined ? [] : [`Why: ${why}`]), ...(text === "" ? [] : [text])].join("\n\n");
}

function shortened(text: string): string {
  return text.length <= MAX_CHARS
    ? text
    : `${text.slice(0, MAX_CHARS)}\n(cut; sessions_history has the rest)`;
}
