import { END_REASONS, type EndReasonRule } from "@signalbox/agent-core";
import type { Seats } from "@signalbox/home";
import { composeReply, getTurnTexts } from "@signalbox/prompt";
import type { Outcome, Outcomes } from "@signalbox/server";
import type { PlatformMessage, RunUsage } from "@signalbox/store";
import { failureNote } from "@signalbox/telemetry";
import { getAnswerTexts } from "../agent/sampling.ts";
import type { ExchangeReader } from "../messages/exchanges.ts";
import type { ServiceStore, StoredRow } from "../messages/service-store.ts";

const NOTHING: Outcome = { state: "ignored", text: "" };

export interface OutcomeSources {
  readonly store: ServiceStore;
  readonly exchanges: ExchangeReader;
  readonly outcomes: Outcomes;
  readonly seats: Seats;
}

/** Interval at which the outcome of a message that another node answers is read, in milliseconds. */
const POLL_MS = 250;

/** Waits for the outcome of an accepted message, regardless of the process that handles it. */
export async function waitForOutcome(ports: OutcomeSources, message: PlatformMessage): Promise<Outcome> {
  const { store, outcomes, seats } = ports;
  const row = await store.inbox.find(message);
  if (row === undefined) return NOTHING;
  if (row.settledAt !== undefined) return outcomes.waiting(row.id) ?? readOutcome(ports, row);
  if (row.route !== undefined && !seats.isHere(row.route.agentId, row.route.sessionKey))
    return pollOutcome(ports, row);
  const done = outcomes.wait(row.id);
  // The message may have been completed before the wait began.
  const now = await store.inbox.get(row.id);
  return now?.settledAt === undefined ? done : readOutcome(ports, now);
}

/** Waits for a message that another node answers. */
async function pollOutcome(ports: OutcomeSources, row: StoredRow): Promise<Outcome> {
  for (let now: StoredRow | undefined = row; now !== undefined; now = await ports.store.inbox.get(row.id)) {
    if (now.settledAt !== undefined) return readOutcome(ports, now);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS).unref());
  }
  return NOTHING;
}

/** Reads the outcome of a completed message from the store. */
async function readOutcome({ store, exchanges }: OutcomeSources, row: StoredRow): Promise<Outcome> {
  const { id, state, runId, route, detail } = row;
  const of = runId === undefined ? {} : { runId };
  switch (state) {
    case "replied":
    case "silent": {
      const journal = runId === undefined ? undefined : await store.runs.inspect(runId);
      if (journal?.run.state === "aborted") return { ...of, state: "aborted", text: "" };
      const end = { ...of, ...getUsage(journal?.run.usage), ...getFinishReason(detail?.rule) };
      if (state === "silent") return { ...end, state, text: "" };
      // The session does not contain answers to commands.
      const said = route && (await exchanges.getAnswer(route.sessionKey, runId ?? id));
      if (said !== undefined) return { ...end, state, text: said };
      const texts = getTurnTexts(journal?.messages.map(({ message }) => message) ?? []);
      const answer = getAnswerTexts(texts, row.payload.event.turn);
      return { ...end, state, text: composeReply(answer, "complete", []).text };
    }
    case "failed-reported":
    case "unreported": {
      const code = detail?.rule ?? "error";
      return { ...of, state: "failed", text: "", error: { code, message: failureNote(code) } };
    }
    default:
      return { ...NOTHING, ...of };
  }
}

function getUsage(used: RunUsage | undefined): Pick<Outcome, "usage"> {
  if (used === undefined) return {};
  const { inputTokens = 0, cacheReadTokens = 0, outputTokens = 0, costMicros } = used;
  const cost = costMicros === undefined ? {} : { costMicros };
  return { usage: { inputTokens, cachedTokens: cacheReadTokens, outputTokens, ...cost } };
}

/** @param rule the reason why the run ended before the model had finished */
function getFinishReason(rule: string | undefined): Pick<Outcome, "finishReason"> {
  const reasons: Readonly<Record<string, EndReasonRule>> = END_REASONS;
  const finishReason = rule === undefined ? undefined : reasons[rule]?.finishReason;
  return finishReason === undefined ? {} : { finishReason };
}
