import { type ChannelDefinition, outboundOf } from "@signalbox/channel";
import { type Delivery, outboxRow, pendingRows } from "@signalbox/delivery";
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
    const key = `ask-${approval.id}`;
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
