import type { MessageEvent } from "@signalbox/channel";
import type { Occurrence, ScheduleStore } from "@signalbox/schedules";
import { z } from "zod";
import type { Taking } from "../path/path.ts";
import type { GatewayStore } from "../store.ts";
import { createScheduleStore } from "./schedule-store.ts";

/** A conversation as a message in it shows it, and in whose name the agent is woken there. */
export type Place = Pick<
  MessageEvent,
  "channel" | "account" | "botId" | "conversation" | "address" | "sender"
>;

/** What an agent is to be told, and where. Whoever asked for it speaks: what they may not do by then is not done. */
export interface Wake {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly text: string;
  readonly place: Place;
}

export const keptPlace: z.ZodType<Place> = z.object({
  channel: z.string(),
  account: z.string(),
  botId: z.string().exactOptional(),
  conversation: z.object({
    id: z.string(),
    kind: z.enum(["direct", "group", "channel"]),
    threadId: z.string().exactOptional(),
    parentId: z.string().exactOptional(),
    guildId: z.string().exactOptional(),
    teamId: z.string().exactOptional(),
  }),
  address: z.string(),
  sender: z.object({
    id: z.string(),
    name: z.string().exactOptional(),
    isBot: z.boolean(),
    isSelf: z.boolean(),
    roles: z.array(z.string()).exactOptional(),
    authenticatedAs: z.enum(["owner", "member"]).exactOptional(),
  }),
});

const keptWake = z.object({
  agentId: z.string(),
  sessionKey: z.string(),
  text: z.string(),
  place: keptPlace,
});

/** Wakes in the gateway's store. */
export function createWakeStore(
  kv: GatewayStore["kv"],
  onUnreadable: (id: string) => void,
): ScheduleStore<Wake> {
  return createScheduleStore(kv, "schedules", keptWake, onUnreadable);
}

/** The place of a message, as far as an answer to it and the gate need it. */
export function placeOf({
  channel,
  account,
  botId,
  conversation,
  address,
  sender,
}: MessageEvent): Wake["place"] {
  return keptPlace.parse({
    channel,
    account,
    conversation,
    address,
    sender,
    ...(botId === undefined ? {} : { botId }),
  });
}

/** Hands an occurrence of a schedule to its agent, in its conversation: nobody is there, so it is the gateway that speaks. */
export async function wakeForSchedule(
  { schedule: { id, task }, dueAt }: Occurrence<Wake>,
  wake: WakeAgent,
): Promise<"taken" | "later"> {
  const { agentId, sessionKey } = task;
  const text = `[It is time for what was scheduled as ${id}]\n${task.text}`;
  const event = messageAt(task.place, { eventId: `schedule:${id}:${dueAt}`, dueAt, text });
  const { outcome } = await wake(event, { agentId, sessionKey, atMost: "system" });
  return outcome === "rejected" ? "later" : "taken";
}

/** Where what the gateway says by itself begins its way. */
export type WakeAgent = Taking["wake"];

/** What an agent is told when something is due. */
interface Due {
  /** Of the occurrence: the same one is the same event. */
  readonly eventId: string;
  readonly dueAt: number;
  readonly text: string;
}

/**
 * What is due as a message of a conversation. It goes the way of every other, so that a stop or a crash neither loses nor
 * repeats it, and waits there for a run that goes on.
 */
export function messageAt(place: Place, { eventId, dueAt, text }: Due): MessageEvent {
  return {
    ...place,
    type: "message",
    eventId,
    // As that of a platform's own command: there is none that an answer could quote.
    messageId: "",
    timestamp: dueAt,
    addressed: place.conversation.kind === "direct" ? "dm" : "mention",
    text,
    media: [],
    mentions: [],
  };
}
