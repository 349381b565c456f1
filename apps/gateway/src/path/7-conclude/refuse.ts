import type { ChannelDefinition } from "@signalbox/channel";
import { answerTo, outboxKey, outboxRow } from "@signalbox/delivery";
import type { LiveHub, Outcome } from "@signalbox/server";
import type { InboxId, LeaseToken, OutboxRow } from "@signalbox/store";
import type { GatewayBodies, GatewayStore } from "../../store.ts";
import type { QueuedMessage } from "../4-queue/message.ts";
import type { AttachmentCrashes } from "../5-prepare/attachment-crashes.ts";
import { failureEvent, failureNote } from "../failure-note.ts";
import { REPLY_TTL_MS } from "./commit.ts";

export interface RefusePorts {
  readonly store: Pick<GatewayStore, "inbox" | "outbox">;
  readonly lease: LeaseToken;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly crashes: Pick<AttachmentCrashes, "end">;
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  readonly live: Pick<LiveHub, "publish">;
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
  readonly now: () => number;
}

export type Refuse = (
  messages: readonly QueuedMessage[],
  why: { readonly code: string; readonly message: string },
) => Promise<void>;

/** Messages that no run can answer, or which ended the process, get their end, and their senders a word. */
export function createRefuse(ports: RefusePorts): Refuse {
  const { store, lease } = ports;
  const tell = async ({ id, sessionKey, stored: { event } }: QueuedMessage, word: string): Promise<void> => {
    const capabilities = ports.definition(event.channel, event.account)?.capabilities;
    const payload = answerTo(word, event.messageId, capabilities);
    if (payload === undefined) return;
    const row = outboxRow(event, payload, { expiresAt: ports.now() + REPLY_TTL_MS, claim: false });
    // The key comes from the message: tried again after a crash it is the same word.
    const rows = [{ ...row, key: outboxKey(id), answers: [id] }];
    ports.deliver(await store.outbox.enqueue(rows, { lease, sessionKey }));
  };

  return async (messages, { code, message }) => {
    const word =
      code === "no_model" || code === "no_agent"
        ? "Sorry, this agent is not set up to answer. Its operator can see why in the log."
        : failureNote(code);
    for (const refused of messages) {
      const { id, sessionKey, stored } = refused;
      await tell(refused, word);
      await store.inbox.settle(id, "failed-reported", { rule: code, reason: message });
      ports.onOutcome(id, { state: "failed", text: "", error: { code, message } });
      ports.live.publish(sessionKey, failureEvent({ code, message }));
      const answers = [stored.event.messageId];
      ports.live.publish(sessionKey, { type: "run.end", runId: id, answers, outcome: "failed" });
    }
    await ports.crashes.end(messages);
  };
}
