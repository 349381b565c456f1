import type { AttachmentCrashes } from "@signalbox/attachments";
import { REPLY_TTL_MS } from "@signalbox/delivery";
import type { LiveHub, Outcome } from "@signalbox/server";
import type { InboxId, OutboxRow } from "@signalbox/store";
import { failureEvent, failureNote, problemOf } from "@signalbox/telemetry";
import type { Exchanges } from "../../api/exchange.ts";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { QueuedMessage } from "../4-queue/message.ts";
import { putWord, type WordPorts } from "../word.ts";

export interface RefusePorts extends WordPorts {
  readonly store: Pick<GatewayStore, "inbox" | "outbox">;
  readonly crashes: Pick<AttachmentCrashes, "end">;
  readonly exchanges: Pick<Exchanges, "keep">;
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  readonly live: Pick<LiveHub, "publish">;
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
}

export type Refuse = (
  messages: readonly QueuedMessage[],
  why: { readonly code: string; readonly message: string },
) => Promise<void>;

/** Messages that no run can answer, or which ended the process, get their end, and their senders a word. */
export function createRefuse(ports: RefusePorts): Refuse {
  const { store } = ports;
  return async (messages, { code, message }) => {
    for (const refused of messages) {
      const phrases = ports.phrasesOf(refused);
      const isSetUp = code !== "no_model" && code !== "no_agent";
      const word = isSetUp ? failureNote(code, phrases) : phrases.failed.notSetUp;
      const { id, sessionKey, stored } = refused;
      // One that reads the conversation itself is told of the failure there.
      await ports.exchanges.keep(sessionKey, [refused], {
        id,
        text: word,
        outcome: "failed",
        error: problemOf({ code, message }),
      });
      ports.deliver((await putWord(ports, refused, word, { ttlMs: REPLY_TTL_MS, isAnswer: true })) ?? []);
      await store.inbox.settle(id, "failed-reported", { rule: code, reason: message });
      ports.onOutcome(id, { state: "failed", text: "", error: { code, message } });
      ports.live.publish(sessionKey, failureEvent(id, { code, message }));
      const answers = [stored.event.messageId];
      ports.live.publish(sessionKey, { type: "run.end", runId: id, answers, outcome: "failed" });
    }
    await ports.crashes.end(messages);
  };
}
