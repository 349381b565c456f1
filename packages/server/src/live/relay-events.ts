import type { LiveEvent } from "@signalbox/protocol";
import { z } from "zod";

/** A change of a session's events, from the node that runs its agent to a node with viewers. */
export type RelayChange =
  /** The events of the current run, if there is one. The first change of every watch. */
  | { readonly kind: "snapshot"; readonly events: readonly LiveEvent[] }
  | { readonly kind: "event"; readonly event: LiveEvent }
  /** See `LiveHub.retract`. */
  | { readonly kind: "retract" }
  /** See `LiveHub.forget`. */
  | { readonly kind: "forget" };

export interface RelayBody {
  /** The node that sent the change. */
  readonly from: string;
  /** Number of changes that this node sent for the watch since its snapshot. */
  readonly seq: number;
  readonly change: RelayChange;
}

/** Gateways write the events, so that their content is trusted. */
const event = z.custom<LiveEvent>((value) => typeof value === "object" && value !== null);

export const relayBodySchema: z.ZodType<RelayBody> = z.object({
  from: z.string(),
  seq: z.number(),
  change: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("snapshot"), events: z.array(event) }),
    z.object({ kind: z.literal("event"), event }),
    z.object({ kind: z.literal("retract") }),
    z.object({ kind: z.literal("forget") }),
  ]),
});

const PREFIX = "live ";

/** Topic of the hints that a watch has begun. */
export const WATCH_TOPIC = `${PREFIX}watches`;

/** Returns the topic of the hints that there are events for a node. */
export function getEventTopic(node: string): string {
  return `${PREFIX}events ${node}`;
}

/** Returns true for topics of hints that only concern live events. */
export function isLiveTopic(topic: string): boolean {
  return topic.startsWith(PREFIX);
}
