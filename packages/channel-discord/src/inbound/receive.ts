import { type Backfill, createBackfill, deadline, type InboundEvent, type Payload } from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import { limits } from "../limits.ts";
import type { Interactions } from "../outbound/interactions.ts";
import { formToOpen, keepAskedAbout } from "./asked-forms.ts";
import { type ReadingPorts, readEvents, type Told } from "./events.ts";
import { type InteractionHead, readInteraction } from "./interaction-head.ts";
import { missedMessages } from "./missed.ts";

export interface Receiver {
  /**
   * Reads what was told. What it gives hands it over to the host, and resolves with whether the host took it: reading
   * is done one after the other, handing over need not wait.
   *
   * @throws ChannelError where what it refers to could not be looked up
   */
  read(told: Told): Promise<() => Promise<boolean>>;
  readonly backfill: Backfill;
}

interface ReceiverOptions extends ReadingPorts {
  readonly api: DiscordApi;
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
    async take(data) {
      const handOver = await read({ type: "MESSAGE_CREATE", data, deliveryId: "" });
      return (await handOver()) ? "accepted" : "rejected";
    },
  });

  async function read(told: Told): Promise<() => Promise<boolean>> {
    const limit = deadline(limits.lookupMs, context.signal);
    try {
      const events = await readEvents(options, told, limit.signal);
      return async () => {
        const results = await Promise.all(events.map((event) => context.emit(event)));
        if (results.includes("rejected")) return false;
        await after(told, events);
        return true;
      };
    } finally {
      limit.end();
    }
  }

  /** What is left to do once the host has taken it. */
  async function after({ type, data }: Told, events: readonly InboundEvent[]): Promise<void> {
    const interaction = type === "INTERACTION_CREATE" ? readInteraction(data) : undefined;
    if (interaction !== undefined) await respond(options, interaction, data, events);
    for (const event of events) {
      if (event.type === "message" && event.messageId !== "")
        await backfill.note(event.conversation.id, event.timestamp);
    }
  }

  return { read, backfill };
}

/** A form is opened before anything is said; what the host was told is acknowledged. */
async function respond(
  { context, interactions }: ReceiverOptions,
  interaction: InteractionHead,
  data: Payload,
  events: readonly InboundEvent[],
): Promise<void> {
  const form = formToOpen(data, interaction);
  if (form !== undefined) {
    if (interaction.kind === "message-command") await keepAskedAbout(context.cache, data);
    await interactions.openForm(interaction, form, context.signal);
  } else if (events.length > 0) {
    await interactions.acknowledge(interaction, context.signal);
  }
}
