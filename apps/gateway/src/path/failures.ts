import type { Judge } from "@signalbox/lanes";
import { type InterruptedRun, StoreError } from "@signalbox/store";
import { messageOf } from "../errors.ts";
import { type GatewayBodies, type GatewayStore, isFatal, isPassing } from "../store.ts";
import type { MessageTicket } from "./4-queue/message.ts";
import type { RunOptions } from "./5-prepare/open-run.ts";
import { failureNote, failWithoutRun, finish } from "./7-conclude/conclude.ts";

/** How often a store may refuse the same for a reason that does not pass by itself. */
const MOST_REFUSALS = 3;

/** The failure of the store that is behind an error, if one is. */
export function storeErrorIn(error: unknown): StoreError | undefined {
  const cause = error instanceof Error && error.cause instanceof StoreError ? error.cause : error;
  return cause instanceof StoreError ? cause : undefined;
}

/** What a failure of the path means for the work that met it. */
export const judgeFailure: Judge = (error) => {
  const failure = storeErrorIn(error);
  if (failure === undefined) return "give-up";
  return isFatal(failure) ? "fatal" : "retry";
};

/** The same for a run, which the store may refuse for a reason that does not pass by itself. */
export const judgeRun: Judge = (error, failures) => {
  const failure = storeErrorIn(error);
  const lasting = failure !== undefined && !isPassing(failure) && failures >= MOST_REFUSALS;
  const verdict = judgeFailure(error, failures);
  return verdict === "retry" && lasting ? "give-up" : verdict;
};

/** What is left to do of messages whose run broke off: the run that the journal holds, and what waits for one. */
export async function leftOf(
  store: GatewayStore,
  sessionKey: string,
  tickets: readonly MessageTicket[],
): Promise<{
  readonly held: InterruptedRun<GatewayBodies> | undefined;
  readonly waiting: readonly MessageTicket[];
}> {
  const session = await store.sessions.get(sessionKey);
  const held = session?.activeRun === undefined ? undefined : await store.runs.inspect(session.activeRun);
  const waiting: MessageTicket[] = [];
  for (const ticket of tickets) {
    if ((await store.inbox.get(ticket.id))?.state === "queued") waiting.push(ticket);
  }
  return { held, waiting };
}

/** Ends messages whose run would fail again and again, and tells their senders, so that the session goes on. */
export async function giveUp(
  options: RunOptions,
  sessionKey: string,
  tickets: readonly MessageTicket[],
  error: unknown,
): Promise<void> {
  const code = "internal";
  const message = messageOf(error);
  const { held, waiting } = await leftOf(options.store, sessionKey, tickets);
  options.logger.error({ session: sessionKey, err: message }, "a run failed inside the gateway");
  if (held !== undefined) {
    const text = failureNote(code);
    await finish(
      options,
      { runId: held.run.id, sessionKey, tickets: ticketsOf(held) },
      {
        outcome: "failed",
        state: "failed-reported",
        rule: code,
        reply: { text, silent: false, note: text },
        end: "failed",
        error: { code, message },
      },
    );
  }
  await failWithoutRun(options, waiting, { code, message });
}

function ticketsOf({ run, inbox }: InterruptedRun<GatewayBodies>): MessageTicket[] {
  const { sessionKey, agentId } = run;
  return inbox
    .filter((row) => row.state === "running")
    .map(({ id, payload: stored }) => ({
      ...{ kind: "message", id, sessionKey, agentId, stored },
      ...{ exclusive: false, recovered: true },
    }));
}
