import type { BlockReplies, Drafts } from "@signalbox/delivery";
import { phrasesIn } from "@signalbox/phrases";
import { clientUsage, journalUsage, noteId } from "@signalbox/runs";
import type { LiveHub, Outcome } from "@signalbox/server";
import type { InboxId, OutboxRow, RunId } from "@signalbox/store";
import { failureEvent } from "@signalbox/telemetry";
import type { GatewayHooks } from "../../hooks/hook-points.ts";
import { shownMessage } from "../../hooks/message-sent.ts";
import type { GatewayBodies } from "../../store.ts";
import type { Tracer } from "../../traces.ts";
import type { Concluded } from "../7-conclude/commit.ts";

export interface DeliverPorts {
  /** Sends rows that were just committed. */
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  readonly drafts: Pick<Drafts, "settled">;
  readonly blocks: Pick<BlockReplies<RunId>, "settled">;
  readonly hooks: Pick<GatewayHooks, "observe">;
  readonly live: Pick<LiveHub, "publish">;
  readonly tracer: Tracer;
  /** Told the end of each message. */
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
  readonly now: () => number;
}

export type Deliver = (concluded: Concluded) => void;

/** Hands over what is to go out, and tells everybody who watches or waits. All of it is on record already. */
export function createDeliver(ports: DeliverPorts): Deliver {
  const { live, hooks } = ports;
  return ({ run, conclusion, reply, end, used, answered, inbox, shown, rows }) => {
    const { runId, sessionKey, messages } = run;
    ports.deliver(rows);
    ports.drafts.settled(runId);
    ports.blocks.settled(runId);
    const spent = used === undefined ? "" : `; ${phrasesIn("en").usage(journalUsage(used))}`;
    const replied = `${reply.text.length} characters${spent}`;
    for (const { id, state, detail } of inbox)
      ports.tracer.note(id, "reply", `${state}: ${replied}`, detail && { ...detail });
    if (reply.note !== undefined) {
      // The turns themselves were shown as they came.
      const note = {
        id: noteId(runId),
        role: "assistant",
        text: reply.note,
        at: ports.now(),
        runId,
      } as const;
      live.publish(sessionKey, { type: "message", message: note });
    }
    const messageIds = messages.map(({ stored }) => stored.event.messageId);
    const { error, finishReason } = conclusion;
    const usage = used && clientUsage(used);
    if (answered !== undefined) {
      if (shown) hooks.observe("message_sent", shownMessage(answered, runId, reply.text));
      const place = { agentId: answered.agentId, sessionKey, runId, messageIds };
      hooks.observe("run_end", { ...place, outcome: end, usage, error });
    }
    if (error !== undefined) live.publish(sessionKey, failureEvent(runId, error));
    const withUsage = usage === undefined ? {} : { usage };
    live.publish(sessionKey, { type: "run.end", runId, outcome: end, ...withUsage, answers: messageIds });
    const outcome: Outcome = {
      state: end,
      runId,
      text: end === "failed" ? "" : reply.text,
      finishReason,
      ...withUsage,
      ...(error === undefined ? {} : { error }),
    };
    for (const { id } of messages) ports.onOutcome(id, outcome);
  };
}
