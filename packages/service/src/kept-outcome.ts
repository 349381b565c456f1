import { composeReply, turnTexts } from "@signalbox/prompt";
import type { Outcome, Outcomes } from "@signalbox/server";
import type { PlatformMessage } from "@signalbox/store";
import { failureNote } from "@signalbox/telemetry";
import type { ServiceStore, StoredRow } from "./service-store.ts";

const NOTHING: Outcome = { state: "ignored", text: "" };

/** How a message that was taken before ends or ended, whichever process has dealt with it. */
export async function endOfKnown(
  store: Pick<ServiceStore, "inbox" | "runs">,
  outcomes: Outcomes,
  message: PlatformMessage,
): Promise<Outcome> {
  const row = await store.inbox.find(message);
  if (row === undefined) return NOTHING;
  if (row.settledAt !== undefined) return outcomes.waiting(row.id) ?? keptOutcome(store, row);
  const done = outcomes.wait(row.id);
  // It may have ended before anybody waited.
  const now = await store.inbox.get(row.id);
  return now?.settledAt === undefined ? done : keptOutcome(store, now);
}

/** What the store keeps of an answer. */
async function keptOutcome(store: Pick<ServiceStore, "inbox" | "runs">, row: StoredRow): Promise<Outcome> {
  const { state, runId, detail } = row;
  const of = runId === undefined ? {} : { runId };
  switch (state) {
    case "replied":
    case "silent": {
      const journal = runId === undefined ? undefined : await store.runs.inspect(runId);
      if (journal?.run.state === "aborted") return { ...of, state: "aborted", text: "" };
      const texts = turnTexts(journal?.messages.map(({ message }) => message) ?? []);
      return { ...of, state, text: state === "silent" ? "" : composeReply(texts, "complete", []).text };
    }
    case "failed-reported": {
      const code = detail?.rule ?? "error";
      return { ...of, state: "failed", text: "", error: { code, message: failureNote(code) } };
    }
    default:
      return { ...NOTHING, ...of };
  }
}
