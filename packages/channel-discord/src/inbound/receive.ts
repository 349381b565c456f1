import { type Backfill, createBackfill, deadline, type InboundEvent, type Payload } from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { Interactions } from "../outbound/interactions.ts";
import { type EventSources, type GatewayEvent, readEvents } from "./events.ts";
import { type InteractionHead, readInteraction } from "./interaction-head.ts";
import { formToOpen, storeAskedAbout } from "./message-questions.ts";
import { missedMessages } from "./missed-messages.ts";

export interface Receiver {
  /**
   * Reads an event and returns a function that emits it and reports whether the host accepted it. Events are read one
   * at a time, but emitting does not block reading.
   *
   * @throws ChannelError if a lookup failed
   */
  read(gatewayEvent: GatewayEvent): Promise<() => Promise<boolean>>;
  readonly backfill: Backfill;
}

interface ReceiverOptions extends EventSources {
  readonly interactions: Interactions;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { context, botId } = options;
  const backfill = createBackfill<Payload>({
    state: context.state,
    clock: context.clock,
    logger: context.logger,
    botId,
    read: (channelId, since, signal) => missedMessages(options, channelId, since, signal),
    async emit(data) {
      const gatewayEvent = { type: "MESSAGE_CREATE", data, deliveryId: "" };
      return (await emit(gatewayEvent, await readNow(gatewayEvent))) ? "accepted" : "rejected";
    },
    maxDelayMs: limits.orderMs,
  });

  async function readNow(gatewayEvent: GatewayEvent): Promise<readonly InboundEvent[]> {
    const limit = deadline(limits.lookupMs, context.signal);
    try {
      return await readEvents(options, gatewayEvent, limit.signal);
    } finally {
      limit.end();
    }
  }

  async function emit(gatewayEvent: GatewayEvent, events: readonly InboundEvent[]): Promise<boolean> {
    const results = await Promise.all(events.map((event) => context.emit(event)));
    if (results.includes("rejected")) return false;
    await after(gatewayEvent, events);
    return true;
  }

  async function read(gatewayEvent: GatewayEvent): Promise<() => Promise<boolean>> {
    const events = await readNow(gatewayEvent);
    return async () => {
      // Discord waits three seconds for the response to an interaction.
      if (gatewayEvent.type !== "INTERACTION_CREATE")
        await backfill.inOrder(...events.map(({ conversation }) => conversation.id));
      return emit(gatewayEvent, events);
    };
  }

  /** Runs follow-up tasks after the host has accepted the events. */
  async function after({ type, data }: GatewayEvent, events: readonly InboundEvent[]): Promise<void> {
    const interaction = type === "INTERACTION_CREATE" ? readInteraction(data) : undefined;
    if (interaction !== undefined) await respond(options, interaction, data, events);
    for (const event of events) {
      if (event.type === "message" && event.messageId !== "")
        await backfill.note(event.conversation.id, event.timestamp);
    }
  }

  return { read, backfill };
}

/** Opens a form or acknowledges the interaction. */
async function respond(
  { context, interactions }: ReceiverOptions,
  interaction: InteractionHead,
  data: Payload,
  events: readonly InboundEvent[],
): Promise<void> {
  const form = formToOpen(data, interaction);
  if (form !== undefined) {
    if (interaction.kind === "message-command") await storeAskedAbout(context.cache, data);
    await interactions.openForm(interaction, form, context.signal);
  } else if (events.length > 0) {
    await interactions.acknowledge(interaction, context.signal);
  }
}
