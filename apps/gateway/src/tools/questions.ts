import { type ChannelDefinition, deadline, isPayload, outboundOf, textAt } from "@signalbox/channel";
import { type AccountLookup, type Delivery, outboxRow, pendingRows } from "@signalbox/delivery";
import type { LiveHub } from "@signalbox/server";
import type { LeaseToken } from "@signalbox/store";
import { type Approval, questionText } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import { withButtons } from "../path/1-receive/orders.ts";
import type { GatewayStore } from "../store.ts";
import type { ToolRun } from "./tool-run.ts";

/** How questions reach people. */
export interface QuestionOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly account: AccountLookup;
  readonly deliverer: Pick<Delivery, "deliver">;
  readonly live: LiveHub;
  readonly logger: Logger;
  readonly now: () => number;
}

/**
 * Puts a question to the conversation it came up in. A restart ends questions and answers, of which the record stays; a
 * run that goes on asks anew.
 */
export function createAsk(options: QuestionOptions): (approval: Approval, run: ToolRun) => Promise<void> {
  const { store, lease, live, logger, now } = options;
  const put = async (approval: Approval, { event, sessionKey, runId }: ToolRun): Promise<void> => {
    const text = questionText(approval);
    const key = questionKey(approval);
    live.publish(sessionKey, {
      type: "message",
      message: { id: key, role: "assistant", text, at: now(), runId },
    });
    const channel = options.definition(event.channel, event.account);
    if (channel === undefined || channel.capabilities.readsSession === true) return;
    const { capabilities } = channel;
    const payload = withButtons(outboundOf(text, event.messageId, capabilities), approval, capabilities);
    const row = outboxRow(event, payload, { expiresAt: approval.expiresAt, claim: false });
    const rows = await store.outbox.enqueue([{ ...row, key }], { lease, sessionKey });
    options.deliverer.deliver(pendingRows(rows));
  };
  return (approval, run) =>
    put(approval, run).catch((error: unknown) =>
      logger.error({ approval: approval.id, err: messageOf(error) }, "a question could not be put"),
    );
}

/** How long a platform may take to change a question. */
const CHANGE_MS = 15_000;

/**
 * Takes the buttons away from a question that is decided, and says how it was. Only what people see changes: where that
 * fails, a late click finds the question decided.
 */
export function createMarkDecided(
  options: Pick<QuestionOptions, "store" | "account" | "logger">,
): (approval: Approval) => Promise<void> {
  const { store, account, logger } = options;
  const mark = async (approval: Approval): Promise<void> => {
    const row = await store.outbox.withKey(questionKey(approval));
    if (row === undefined) return;
    const index = row.payload.parts.findIndex(({ type }) => type === "buttons");
    const part = row.payload.parts[index];
    const receipt = row.receipts.find((each) => each.part === index)?.receipt;
    const messageId = isPayload(receipt) ? textAt(receipt, "messageId") : undefined;
    const target = account(row.channel, row.account);
    if (part?.type !== "buttons" || messageId === undefined || target?.running.edit === undefined) return;
    const { capabilities, codec } = target.definition;
    const text = `${part.text}\n\n${approval.state === "denied" ? "Denied." : "Allowed."}`;
    const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
    const limit = deadline(CHANGE_MS);
    try {
      await target.running.edit(
        codec.decode(row.address),
        messageId,
        { parts: [{ type, text }] },
        limit.signal,
      );
    } finally {
      limit.end();
    }
  };
  return (approval) =>
    mark(approval).catch((error: unknown) =>
      logger.warn({ approval: approval.id, err: messageOf(error) }, "a question could not be marked decided"),
    );
}

function questionKey({ id }: Pick<Approval, "id">): string {
  return `ask-${id}`;
}
