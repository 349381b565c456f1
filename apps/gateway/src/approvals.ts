import type { ChannelDefinition } from "@signalbox/channel";
import { type Delivery, outboxRow, pendingRows } from "@signalbox/delivery";
import type { LiveHub } from "@signalbox/server";
import type { LeaseToken } from "@signalbox/store";
import { type Approval, type Approvals, createMemoryApprovals } from "@signalbox/tools";
import { messageOf } from "./errors.ts";
import type { Logger } from "./log.ts";
import { withButtons } from "./path/1-receive/orders.ts";
import { outboundOf } from "./path/reply-text.ts";
import type { GatewayStore } from "./store.ts";
import type { ToolRun } from "./toolbox.ts";

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

/** Approvals that a stop of the gateway leaves open. */
export interface Questions extends Approvals {
  /** From now on nobody is asked: the next start asks anew. Resolves {@link closed}. */
  close(): void;
  readonly closed: Promise<void>;
}

/**
 * The questions of every agent's tools, each put to the conversation it came up in. They live in memory: a restart
 * forgets them, and a run that goes on asks anew.
 */
export function createApprovals(
  options: QuestionOptions,
  runOf: (sessionKey: string) => ToolRun | undefined,
): Questions {
  const { store, lease, live, logger, now } = options;
  const inner = createMemoryApprovals({ now });
  const closing = Promise.withResolvers<void>();
  let closed = false;

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

  return {
    ...inner,
    closed: closing.promise,
    close() {
      closed = true;
      closing.resolve();
    },
    async request(request) {
      const before = await inner.list();
      const approval = await inner.request(request);
      const run = runOf(request.sessionKey);
      if (!closed && run !== undefined && !before.some((one) => one.id === approval.id)) {
        await put(approval, run).catch((error: unknown) =>
          logger.error({ approval: approval.id, err: messageOf(error) }, "a question could not be put"),
        );
      }
      return approval;
    },
  };
}

/** Everything an answer is bound to, in full. */
export function questionText(approval: Approval): string {
  const { id, agentId, tool, reason, subject, expiresAt } = approval;
  const longest = Math.max(2, ...[...subject.action.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const variables = Object.entries(subject.env ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    `Approval ${id}: the agent ${agentId} wants to use ${tool}. ${reason}`,
    `${fence}\n${subject.action}\n${fence}`,
    ...(subject.binary === undefined ? [] : [`Program: ${subject.binary}`]),
    ...(subject.cwd === undefined ? [] : [`Folder: ${subject.cwd}`]),
    ...(variables.length === 0 ? [] : [`Environment: ${variables.join(" ")}`]),
    `An owner decides, until ${new Date(expiresAt).toISOString()}:\n1. /approve ${id} allow\n2. /approve ${id} deny`,
  ].join("\n");
}
