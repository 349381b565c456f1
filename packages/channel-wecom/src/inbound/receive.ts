import {
  type ChannelContext,
  ChannelError,
  createGapDetector,
  eventBase,
  eventFacts,
  type Gap,
  type HostedAccount,
  type InboundEvent,
  retryUntilDone,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";
import { getBotId, type WecomConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { type MessageCallback, toMessageEvent } from "./message.ts";

/**
 * Receives messages over the long connection. WeCom does not redeliver them, so each is emitted until the host has
 * stored it. Messages that were lost are reported as a gap.
 */
export interface Receiver {
  /** Reports the gap that a crash has left, if there is one. */
  begin(): Promise<void>;
  accept(callback: MessageCallback): void;
  /** Reports that messages since this time (milliseconds since the epoch) may have been missed. */
  missed(since: number): Promise<void>;
  /** Marks an orderly stop, unless a message was lost. */
  end(): Promise<void>;
}

type Account = Pick<HostedAccount<WecomConfig>, "context" | "activity" | "stopped">;

export function createReceiver({ context, activity, stopped }: Account): Receiver {
  const { clock, logger, config } = context;
  const botId = getBotId(config);
  const gaps = createGapDetector(context, botId);
  /** The latest event of each conversation, until it is stored. */
  const last = new Map<string, Promise<void>>();
  let waiting = 0;
  /** The time of the first event that was dropped since the last gap was reported. */
  let droppedAt: number | undefined;

  /** Returns false if the account was stopped before the host has stored the event. */
  async function store(event: InboundEvent): Promise<boolean> {
    let isStored = false;
    await retryUntilDone(
      async () => {
        if ((await context.emit(event)) === "rejected")
          throw new ChannelError("transient", "the host cannot store it now");
        isStored = true;
      },
      { clock, logger, signal: stopped, failing: "an event could not be stored" },
    );
    return isStored;
  }

  async function storeInOrder(event: InboundEvent, before: Promise<void>): Promise<void> {
    await before;
    if (!(await store(event))) return;
    waiting -= 1;
    if (droppedAt === undefined) return gaps.note();
    const from = droppedAt;
    droppedAt = undefined;
    if (!(await store(createGap(context, botId, { from, to: clock.now() })))) droppedAt = from;
  }

  return {
    begin: () => gaps.begin((gap) => context.emit(createGap(context, botId, gap))),
    accept(callback) {
      const event = toMessageEvent(callback, eventFacts(context, botId), config.name);
      if (event === undefined) return logger.warn("skipped a malformed message");
      if (waiting >= limits.maxWaiting) {
        logger.error("dropped a message because too many are waiting", { waiting });
        droppedAt ??= clock.now();
        return;
      }
      waiting += 1;
      const stored = storeInOrder(event, last.get(event.address) ?? Promise.resolve()).catch(() => {});
      last.set(event.address, stored);
      void activity.count(stored).then(() => {
        if (last.get(event.address) === stored) last.delete(event.address);
      });
    },
    async missed(since) {
      await store(createGap(context, botId, { from: since, to: clock.now() }));
    },
    async end() {
      if (waiting === 0 && droppedAt === undefined) await gaps.end();
    },
  };
}

function createGap(
  context: Pick<ChannelContext, "account" | "clock" | "raw">,
  botId: string,
  { from, to }: Gap,
): InboundEvent {
  const address = addressCodec.encode({ type: "single", id: botId });
  return {
    ...eventBase("wecom", eventFacts(context, botId), {
      eventId: `gap ${from}`,
      conversation: { id: botId, kind: "direct" },
      address,
      sender: { id: botId, isBot: true, isSelf: true },
      timestamp: to,
    }),
    type: "lifecycle",
    what: "gap",
    detail: { from: Math.min(from, to), to },
  };
}
