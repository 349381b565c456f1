import { reasonOf } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import { outboxRow } from "@signalbox/delivery";
import type { Supervisor } from "@signalbox/lanes";
import { phrasesFor } from "@signalbox/phrases";
import { groupKey, groupWords } from "@signalbox/prompt";
import { PAIRING_TTL_MS, pairingCode } from "@signalbox/routing";
import type { Outcome } from "@signalbox/server";
import { type InboxId, isFatal, isPassing, type LeaseToken } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayStore, InboundRecord } from "../../store.ts";
import { judgeLasting } from "../failures.ts";

export interface UnansweredPorts {
  readonly store: Pick<GatewayStore, "inbox" | "groupHistory" | "pairing">;
  readonly lease: LeaseToken;
  readonly logger: Logger;
  readonly now: () => number;
  /** Messages of a group to remember for when the agent is addressed. */
  readonly historyLimit: () => number;
  /** What the sender is called, or their id. */
  readonly nameOf: (event: MessageEvent) => Promise<string>;
  /** Looks at the outbox after a row was added. */
  readonly wakeOutbox: () => void;
  readonly supervisor: Pick<Supervisor, "run">;
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
}

/** Messages that no run answers. */
export interface Unanswered {
  /** Gives one its end, after doing what its rule asks for; tries as long as that may help. Never rejects. */
  end(id: InboxId, stored: InboundRecord, kind: "pair" | "keep" | "ignore", rule: string): Promise<void>;
}

export function createUnanswered(ports: UnansweredPorts): Unanswered {
  return {
    async end(id, stored, kind, rule) {
      const error = { code: rule, message: "The gateway does not answer this message." };
      const tell = (): void => ports.onOutcome(id, { state: "ignored", text: "", error });
      await ports.supervisor.run({
        name: `end the message ${id}, which no run answers`,
        attempt: async (failures) => {
          // Meanwhile it may have been edited, or deleted and so have its end.
          const row = failures === 0 ? undefined : await ports.store.inbox.get(id);
          if (row?.settledAt !== undefined) return;
          await followRule(ports, id, row?.payload.event ?? stored.event, { kind, rule });
          await ports.store.inbox.settle(id, "ignored", { rule });
          tell();
        },
        retryPolicy: judgeLasting,
        // It is decided again at the next start.
        giveUp: async () => tell(),
      });
    },
  };
}

/** What the store will never take keeps the message from nothing: it has its end all the same. */
async function followRule(
  ports: UnansweredPorts,
  id: InboxId,
  event: MessageEvent,
  { kind, rule }: { readonly kind: "pair" | "keep" | "ignore"; readonly rule: string },
): Promise<void> {
  try {
    if (kind === "keep") await keep(ports, event);
    if (kind === "pair") await offerPairing(ports, id, event);
  } catch (error) {
    if (isFatal(error) || isPassing(error)) throw error;
    ports.logger.error(
      { rule, err: reasonOf(error) },
      "a message was ignored, and what its rule calls for failed",
    );
  }
}

function keep({ store, historyLimit }: UnansweredPorts, event: MessageEvent): Promise<void> {
  const { messageId: id, sender, timestamp: at } = event;
  const entry = { id, senderId: sender.id, body: groupWords(event), at };
  return store.groupHistory.push(groupKey(event), entry, historyLimit());
}

async function offerPairing(ports: UnansweredPorts, id: InboxId, event: MessageEvent): Promise<void> {
  const code = pairingCode();
  const { channel, account, sender } = event;
  const name = await ports.nameOf(event);
  const replyTo = event.messageId === "" ? {} : { replyTo: event.messageId };
  const payload = {
    parts: [{ type: "text" as const, text: phrasesFor(undefined, event.text).pairing(code) }],
    ...replyTo,
  };
  const expiresAt = ports.now() + PAIRING_TTL_MS;
  const outcome = await ports.store.pairing.request({
    channel,
    account,
    peerId: sender.id,
    code,
    ...(name === sender.id ? {} : { label: name }),
    reply: {
      row: { ...outboxRow(event, payload, { expiresAt, claim: false }), answers: [id] },
      lease: ports.lease,
    },
  });
  if (outcome === "created") ports.wakeOutbox();
}
