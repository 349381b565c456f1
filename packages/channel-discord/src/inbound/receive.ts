import {
  type Backfill,
  type ChannelContext,
  type Conversation,
  createBackfill,
  type Deadline,
  deadline,
  type InboundEvent,
  type MessageEvent,
  objectAt,
  type Payload,
  textAt,
  toJson,
} from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import { type DiscordConfig, inviteAddress } from "../config.ts";
import { limits } from "../limits.ts";
import type { Interactions } from "../outbound/interactions.ts";
import type { People } from "../people.ts";
import { type Places, whereIn } from "../places.ts";
import { formToOpen, keepAskedAbout, readAskedAbout } from "./asked-forms.ts";
import type { EventFacts } from "./event-base.ts";
import { interactionEvent, placeOfInteraction } from "./interaction-events.ts";
import { type InteractionHead, readInteraction } from "./interaction-head.ts";
import { callsByName, mentionedRoles, type OwnIds } from "./mentions.ts";
import { isSpoken, readDeleted, readEdited, readMessage, readReaction } from "./message-events.ts";
import { missedMessages } from "./missed.ts";

/** One thing that the gateway told. */
export interface Told {
  /** Source: Discord's list of gateway events. */
  readonly type: string;
  readonly data: Payload;
  /** The same at every repetition. */
  readonly deliveryId: string;
}

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

/** Ends what is looked up; made at the first use. */
type Limited = () => AbortSignal;

interface ReceiverOptions {
  readonly context: ChannelContext<DiscordConfig>;
  readonly api: DiscordApi;
  readonly people: People;
  readonly places: Places;
  readonly interactions: Interactions;
  readonly botId: string;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { context, api, people, places, interactions, botId } = options;
  const backfill = createBackfill<Payload>({
    state: context.state,
    clock: context.clock,
    logger: context.logger,
    botId,
    read: (channelId, since, signal) =>
      missedMessages({ api, places, people, botId }, channelId, since, signal),
    async take(data) {
      const handOver = await read({ type: "MESSAGE_CREATE", data, deliveryId: "" });
      return (await handOver()) ? "accepted" : "rejected";
    },
  });

  async function read(told: Told): Promise<() => Promise<boolean>> {
    // Most of what is told leaves nothing open, and a timer for each would be waste.
    let limit: Deadline | undefined;
    const signal = (): AbortSignal => {
      limit ??= deadline(limits.lookupMs, context.signal);
      return limit.signal;
    };
    try {
      const events = await eventsOf(told, signal);
      return async () => {
        const results = await Promise.all(events.map((event) => context.emit(event)));
        if (results.includes("rejected")) return false;
        await after(told, events);
        return true;
      };
    } finally {
      limit?.end();
    }
  }

  /** None for what concerns nobody here, and for what cannot be read. */
  async function eventsOf(told: Told, signal: Limited): Promise<readonly InboundEvent[]> {
    const { type, data } = told;
    switch (type) {
      case "MESSAGE_CREATE":
      case "MESSAGE_UPDATE":
        return isSpoken(data, botId) ? spoken(told, signal) : [];
      case "MESSAGE_DELETE":
      case "MESSAGE_DELETE_BULK":
        return deleted(told, signal);
      case "MESSAGE_REACTION_ADD":
      case "MESSAGE_REACTION_REMOVE": {
        const facts = await factsAt(told, signal);
        const added = type === "MESSAGE_REACTION_ADD";
        return facts === undefined ? [] : some(readReaction(data, facts, { botId, added }));
      }
      case "INTERACTION_CREATE": {
        const interaction = readInteraction(data);
        const conversation = placeOfInteraction(data);
        if (interaction === undefined || conversation === undefined) return [];
        await places.saw(objectAt(data, "channel"));
        const facts = factsIn(told, await whole(conversation, signal));
        const event = interactionEvent(data, interaction, facts);
        return some(event?.type === "message" ? await askedAbout(event) : event);
      }
      case "THREAD_CREATE":
      case "THREAD_UPDATE":
      case "CHANNEL_UPDATE":
        await places.saw(data);
        return [];
      case "READY":
        greet(data);
        return [];
      default:
        return [];
    }
  }

  async function spoken(told: Told, signal: Limited): Promise<readonly InboundEvent[]> {
    const facts = await factsAt(told, signal);
    if (facts === undefined) return [];
    const own = await ownIdsFor(told.data, facts.conversation, signal);
    return some(
      told.type === "MESSAGE_CREATE" ? readMessage(told.data, facts, own) : readEdited(told.data, facts, own),
    );
  }

  /** A form names the message that it asks about, and nothing else of it. */
  async function askedAbout(event: MessageEvent): Promise<MessageEvent> {
    const { replyTo } = event;
    if (replyTo === undefined) return event;
    return {
      ...event,
      ...(await readAskedAbout(context.cache, replyTo.messageId, { botId, roleId: undefined })),
    };
  }

  async function deleted(told: Told, signal: Limited): Promise<readonly InboundEvent[]> {
    const { id, ids } = told.data;
    const facts = await factsAt(told, signal);
    const messageIds = (Array.isArray(ids) ? ids : [id]).filter(
      (one): one is string => typeof one === "string",
    );
    return facts === undefined ? [] : messageIds.map((messageId) => readDeleted(messageId, facts));
  }

  /** Undefined where the place cannot be read. */
  async function factsAt(told: Told, signal: Limited): Promise<EventFacts | undefined> {
    const where = whereIn(told.data);
    return where && factsIn(told, await places.of(where.channelId, where.guildId, signal));
  }

  function factsIn({ deliveryId, data }: Told, conversation: Conversation): EventFacts {
    return {
      account: context.account,
      botId,
      conversation,
      deliveryId,
      now: context.clock.now(),
      ...(context.raw === true ? { raw: toJson(data) ?? null } : {}),
    };
  }

  /** An interaction may name a thread without the channel it belongs to. */
  async function whole(conversation: Conversation, signal: Limited): Promise<Conversation> {
    const { id, guildId, parentId } = conversation;
    return guildId === undefined || parentId !== undefined ? conversation : places.of(id, guildId, signal);
  }

  /** In a server a role that came with the bot stands for it; only a message that mentions roles has to know it. */
  async function ownIdsFor(message: Payload, { guildId }: Conversation, signal: Limited): Promise<OwnIds> {
    const own = { botId, roleId: undefined };
    const isCalled = callsByName(textAt(message, "content") ?? "", own);
    if (guildId === undefined || isCalled || mentionedRoles(message).length === 0) return own;
    return { botId, roleId: await people.ownRole(guildId, signal) };
  }

  /** What is left to do once the host has taken it. */
  async function after({ type, data }: Told, events: readonly InboundEvent[]): Promise<void> {
    const interaction = type === "INTERACTION_CREATE" ? readInteraction(data) : undefined;
    if (interaction !== undefined) await respond(interaction, data, events);
    for (const event of events) {
      if (event.type === "message" && event.messageId !== "")
        await backfill.note(event.conversation.id, event.timestamp);
    }
  }

  /** A form is opened before anything is said; what the host was told is acknowledged. */
  async function respond(
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

  function greet(ready: Payload): void {
    const applicationId = textAt(objectAt(ready, "application"), "id");
    const { guilds } = ready;
    if (applicationId === undefined || !Array.isArray(guilds) || guilds.length > 0) return;
    context.logger.info("the bot is in no server yet; this address lets it in", {
      invite: inviteAddress(applicationId),
    });
  }

  return { read, backfill };
}

function some<Event>(event: Event | undefined): readonly Event[] {
  return event === undefined ? [] : [event];
}
