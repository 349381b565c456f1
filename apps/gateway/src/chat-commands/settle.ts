import { REPLY_TTL_MS } from "@signalbox/delivery";
import type { RunOutcome } from "@signalbox/protocol";
import { noteId } from "@signalbox/runs";
import type { LiveHub, Outcome } from "@signalbox/server";
import type { InboxId, OutboxRow } from "@signalbox/store";
import type { Exchanges } from "../api/exchange.ts";
import type { GatewayHooks } from "../hooks/hook-points.ts";
import { shownMessage } from "../hooks/message-sent.ts";
import type { QueuedMessage } from "../pipeline/4-queue/message.ts";
import { putWord, type WordPorts } from "../pipeline/word.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { Tracer } from "../traces.ts";

/** What ending a command's message needs. */
export interface SettlePorts extends WordPorts {
  readonly store: Pick<GatewayStore, "inbox" | "outbox">;
  readonly hooks: Pick<GatewayHooks, "modify" | "observe">;
  readonly live: Pick<LiveHub, "publish">;
  readonly exchanges: Pick<Exchanges, "keep">;
  readonly tracer: Tracer;
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
}

/** How a command ended. */
export interface CommandEnd {
  /** Without the slash. */
  readonly name: string;
  readonly text: string;
  /** Why nothing was done, for the trace. */
  readonly refused?: string;
  /** The conversation begins anew with it. */
  readonly begins?: boolean;
}

/** Gives a command its answer and its message the end, without a run. Safe to do again after a crash. */
export async function settleCommand(
  options: SettlePorts,
  message: QueuedMessage,
  end: CommandEnd,
): Promise<void> {
  const { store, live, tracer } = options;
  const { stored, sessionKey, agentId, id } = message;
  const { event } = stored;
  const { text } = await options.hooks.modify("before_reply", {
    agentId,
    sessionKey,
    event,
    source: "command",
    text: end.text,
  });
  const silent = text === "";
  const state: RunOutcome = silent ? "silent" : "replied";
  const begins = end.begins === true;
  await options.exchanges.keep(sessionKey, [message], {
    id,
    ...(silent ? {} : { text }),
    outcome: state,
    begins,
  });
  const rows = silent ? [] : await putWord(options, message, text, { ttlMs: REPLY_TTL_MS, isAnswer: true });
  const rule = `command:${end.name}`;
  const reason = end.refused === undefined ? {} : { reason: end.refused };
  await store.inbox.settle(id, silent ? "silent" : "replied", { rule, ...reason });
  // Only now: an answer that cannot be delivered changes the end its message has.
  options.deliver(rows ?? []);
  tracer.note(id, "reply", end.refused ?? `answered without a model, ${text.length} characters`, { rule });
  if (begins) live.publish(sessionKey, { type: "reset", messageId: event.messageId });
  if (!silent) {
    live.publish(sessionKey, {
      type: "message",
      message: { id: noteId(id), role: "assistant", text, at: options.now(), runId: id },
    });
    if (rows === undefined) options.hooks.observe("message_sent", shownMessage(message, undefined, text));
  }
  live.publish(sessionKey, {
    type: "run.end",
    runId: id,
    answers: [event.messageId],
    outcome: state,
  });
  options.onOutcome(id, { state, runId: id, text });
}
