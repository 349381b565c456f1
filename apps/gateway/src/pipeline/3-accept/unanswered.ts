import { reasonOf } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import { resolveSenderName } from "@signalbox/channel/accounts";
import { createOutboxRow } from "@signalbox/delivery";
import { type Phrases, phrasesFor } from "@signalbox/phrases";
import { createGroupBody, getGroupKey } from "@signalbox/prompt";
import { createPairingCode, PAIRING_TTL_MS } from "@signalbox/routing";
import { type InboxId, isFatal, isRetryable } from "@signalbox/store";
import type { GatewayContext } from "../../context.ts";
import { classifyPermanentFailure } from "../../messages/failures.ts";
import type { InboundRecord } from "../../store.ts";
import { reportOutcome } from "../report-outcome.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Finishes a message that no run answers, after applying its rule. Retries temporary failures. Never rejects. */
export async function endUnanswered(
  ctx: GatewayContext,
  { id, stored }: { readonly id: InboxId; readonly stored: InboundRecord },
  { kind, rule }: UnansweredRule,
): Promise<void> {
  const error = { code: rule, message: "The gateway does not answer this message." };
  const report = (): void => reportOutcome(ctx, id, { state: "ignored", text: "", error });
  await ctx.supervisor.run({
    name: `finish the unanswered message ${id}`,
    attempt: async (failures) => {
      // The message may have been edited or deleted in the meantime.
      const row = failures === 0 ? undefined : await ctx.store.inbox.get(id);
      if (row?.settledAt !== undefined) return;
      await followRule(ctx, id, row?.payload.event ?? stored.event, { kind, rule });
      await ctx.store.inbox.settle(id, "ignored", { rule });
      report();
    },
    retryPolicy: classifyPermanentFailure,
    // The next start repeats the decision.
    giveUp: async () => report(),
  });
}

interface UnansweredRule {
  readonly kind: "pair" | "keep" | "ignore";
  readonly rule: string;
}

/** Applies the rule. A permanent failure must not prevent the message from being finished. */
async function followRule(
  ctx: GatewayContext,
  id: InboxId,
  event: MessageEvent,
  { kind, rule }: UnansweredRule,
): Promise<void> {
  try {
    if (kind === "keep") await keep(ctx, event);
    if (kind === "pair") await offerPairing(ctx, id, event);
    if (rule === "reply_window") await notifyOwners(ctx, id, event);
  } catch (error) {
    if (isFatal(error) || isRetryable(error)) throw error;
    ctx.logger.error(
      { rule, err: reasonOf(error) },
      "a message was ignored, and what its rule calls for failed",
    );
  }
}

/**
 * Notifies owners of a trigger that was ignored because its platform only accepts replies, once per day and
 * conversation.
 */
async function notifyOwners(ctx: GatewayContext, id: InboxId, event: MessageEvent): Promise<void> {
  const { channel, account, address } = event;
  const closed = await ctx.replyWindows.findClosed(event);
  const platform = closed?.platform ?? channel;
  const windowMs = closed?.windowMs ?? 0;
  const day = String(Math.floor(ctx.now() / DAY_MS));
  const place = `${channel}/${account}`;
  const text = ({ notTriggered }: Phrases): string => notTriggered({ platform, place, windowMs, id });
  ctx.logger.warn(
    { message: id, channel, account },
    "a trigger was ignored: its platform accepts only replies",
  );
  await ctx.delivery.ownerNotices.send(text, `reply-window ${place} ${address} ${day}`);
}

function keep({ store, config }: GatewayContext, event: MessageEvent): Promise<void> {
  const { messageId: id, sender, timestamp: at } = event;
  const entry = { id, senderId: sender.id, body: createGroupBody(event), at };
  return store.groupHistory.push(
    getGroupKey(event),
    entry,
    config.current().settings.access.groups.historyLimit,
  );
}

async function offerPairing(ctx: GatewayContext, id: InboxId, event: MessageEvent): Promise<void> {
  const code = createPairingCode();
  const { channel, account, sender } = event;
  const name = await resolveSenderName(event, ctx.accounts.get(channel, account));
  const replyTo = event.messageId === "" ? {} : { replyTo: event.messageId };
  const payload = {
    parts: [{ type: "text" as const, text: phrasesFor(undefined, event.text).pairing(code) }],
    ...replyTo,
  };
  const expiresAt = ctx.now() + PAIRING_TTL_MS;
  const outcome = await ctx.store.pairing.request({
    channel,
    account,
    peerId: sender.id,
    code,
    label: name === sender.id ? undefined : name,
    reply: {
      row: { ...createOutboxRow(event, payload, { expiresAt, claim: false }), answers: [id] },
      lease: ctx.lease,
    },
  });
  if (outcome !== "created") return;
  ctx.delivery.wake();
  await informOwners(ctx, event);
}

/**
 * Informs the owners that a person waits. At most once an hour for each account, and without any text of the person, so
 * that strangers cannot write to owners.
 */
async function informOwners({ delivery, logger, now }: GatewayContext, event: MessageEvent): Promise<void> {
  const place = `${event.channel}/${event.account}`;
  const hour = Math.floor(now() / HOUR_MS);
  try {
    await delivery.ownerNotices.send(({ personWaits }) => personWaits(place), `pairing ${place} ${hour}`);
  } catch (error) {
    logger.warn({ err: reasonOf(error) }, "owners could not be informed of a pairing request");
  }
}
