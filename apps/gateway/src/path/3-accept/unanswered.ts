import { randomInt } from "node:crypto";
import type { MessageEvent } from "@signalbox/channel";
import { outboxRow } from "@signalbox/delivery";
import type { Supervisor } from "@signalbox/lanes";
import type { InboxId, JsonValue, LeaseToken } from "@signalbox/store";
import { messageOf } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import { type GatewayStore, type InboundRecord, isFatal, isPassing } from "../../store.ts";

export interface UnansweredPorts {
  readonly store: Pick<GatewayStore, "inbox" | "groupHistory" | "pairing">;
  readonly lease: LeaseToken;
  readonly logger: Logger;
  readonly now: () => number;
  /** Messages of a group to remember for when the agent is addressed. */
  readonly historyLimit: number;
  /** Looks at the outbox after a row was added. */
  readonly wakeOutbox: () => void;
  readonly supervisor: Pick<Supervisor, "run">;
}

/** Messages that no run answers. */
export interface Unanswered {
  /** Gives one its end, after doing what its rule asks for; tries until it is done. Never rejects. */
  end(id: InboxId, stored: InboundRecord, kind: "pair" | "keep" | "ignore", rule: string): Promise<void>;
}

const PAIRING_TTL_MS = 10 * 60_000;
/** Without the characters people confuse. */
const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function createUnanswered(options: UnansweredPorts): Unanswered {
  const { store, logger } = options;

  /** Ends a message that no run answers, after doing what its rule asks for. */
  const attempt = async (
    id: InboxId,
    stored: InboundRecord,
    kind: "pair" | "keep" | "ignore",
    rule: string,
    failures: number,
  ): Promise<void> => {
    // Meanwhile it may have been edited, or deleted and so have its end.
    const row = failures === 0 ? undefined : await store.inbox.get(id);
    if (row?.settledAt !== undefined) return;
    const { event } = row?.payload ?? stored;
    await followRule(id, event, kind, rule);
    await store.inbox.settle(id, "ignored", { rule });
  };

  /** What the store will never take keeps the message from nothing: it has its end all the same. */
  const followRule = async (
    id: InboxId,
    event: MessageEvent,
    kind: "pair" | "keep" | "ignore",
    rule: string,
  ): Promise<void> => {
    try {
      if (kind === "keep") await keep(event);
      if (kind === "pair") await offerPairing(id, event);
    } catch (error) {
      if (isFatal(error) || isPassing(error)) throw error;
      logger.error({ rule, err: messageOf(error) }, "a message is ignored without what its rule asks for");
    }
  };

  const keep = (event: MessageEvent): Promise<void> =>
    store.groupHistory.push(
      historyKey(event),
      {
        id: event.messageId,
        senderId: event.sender.id,
        body: historyBody(event),
        at: event.timestamp,
      },
      options.historyLimit,
    );

  const offerPairing = async (id: InboxId, event: MessageEvent): Promise<void> => {
    const code = Array.from({ length: 8 }, () => CODE_ALPHABET.charAt(randomInt(CODE_ALPHABET.length))).join(
      "",
    );
    const { channel, account } = event;
    const label = event.sender.name;
    const text = `Pairing code: ${code}. The owner of this assistant can let you in with it, within ten minutes.`;
    const replyTo = event.messageId === "" ? {} : { replyTo: event.messageId };
    const payload = { parts: [{ type: "text" as const, text }], ...replyTo };
    const expiresAt = options.now() + PAIRING_TTL_MS;
    const outcome = await store.pairing.request({
      channel,
      account,
      peerId: event.sender.id,
      code,
      ...(label === undefined ? {} : { label }),
      reply: {
        row: { ...outboxRow(event, payload, { expiresAt, claim: false }), answers: [id] },
        lease: options.lease,
      },
    });
    if (outcome === "created") options.wakeOutbox();
  };

  return {
    async end(id, stored, kind, rule) {
      await options.supervisor.run({
        name: `end the message ${id}, which no run answers`,
        attempt: (failures) => attempt(id, stored, kind, rule, failures),
        judge: (error) => (isFatal(error) ? "fatal" : "retry"),
      });
    },
  };
}

/** Names the ring of remembered messages of a group. */
export function historyKey(event: Pick<MessageEvent, "channel" | "account" | "conversation">): string {
  const { id, threadId, beginsThread = false } = event.conversation;
  const thread = threadId === undefined || beginsThread ? [] : [threadId];
  return JSON.stringify([event.channel, event.account, id, ...thread]);
}

/** What the ring keeps of a message. */
export function historyBody({ text, sender }: MessageEvent): JsonValue {
  return { text, ...(sender.name === undefined ? {} : { name: sender.name }) };
}
