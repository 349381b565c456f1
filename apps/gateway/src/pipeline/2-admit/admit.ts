import type { Capabilities, MessageEvent } from "@signalbox/channel";
import type { AdmissionDecision } from "@signalbox/routing";
import { getWeakerRole } from "@signalbox/tools";
import type { GatewayContext } from "../../context.ts";
import type { InboundRecord } from "../../store.ts";
import type { TriggerTerms } from "../../triggers/trigger.ts";
import { type Decided, decideAdmission, type Place } from "./decide-admission.ts";

/** A message with its route and the admission decision. */
export interface Admitted {
  /** The message as the inbox stores it. */
  readonly stored: InboundRecord;
  readonly place: Place;
  /** `answer` passes the message to the agent. With any other decision, the message ends with its rule. */
  readonly decision: AdmissionDecision;
  /** True if the message must not share a run with other messages. */
  readonly exclusive: boolean;
}

/**
 * Determines the agent for a message and whether its sender may talk to it, and loads the queue settings of the
 * session. Writes nothing.
 *
 * @param terms terms of a trigger, if the gateway itself sends the message on behalf of a person
 */
export async function admit(
  ctx: GatewayContext,
  event: MessageEvent,
  terms?: TriggerTerms,
): Promise<Admitted> {
  const asFromOutside = admitted(ctx, event, await decideAdmission(ctx, event));
  const result = terms === undefined ? asFromOutside : await onTerms(ctx, terms, asFromOutside);
  await ctx.queueModes.read(result.place.sessionKey);
  return result;
}

function admitted(
  { botLoops }: GatewayContext,
  event: MessageEvent,
  { place, capabilities, ...decided }: Decided,
): Admitted {
  const loops = decided.decision.rule === "group_bot" && !botLoops.admits(getConversationKey(event));
  const decision: AdmissionDecision = loops ? { kind: "ignore", rule: "bot_loop" } : decided.decision;
  const role = decision.kind === "answer" ? decision.role : "guest";
  const exclusive = isExclusive({ event }, capabilities);
  return { stored: { event, rule: decision.rule, role }, place, decision, exclusive };
}

/**
 * Ignores a trigger if its person may no longer talk to the agent, or if the platform would reject the answer. In the
 * latter case, owners are notified.
 */
async function onTerms(
  ctx: GatewayContext,
  trigger: TriggerTerms,
  { stored, decision: asked }: Admitted,
): Promise<Admitted> {
  const { agentId, sessionKey, atMost } = trigger;
  const decision: AdmissionDecision =
    asked.kind === "answer" && (await isRefusedByPlatform(ctx, trigger, stored.event))
      ? { kind: "ignore", rule: "reply_window" }
      : asked;
  const { kind, rule } = decision;
  const role = getWeakerRole(stored.role, atMost);
  const triggered = { ...stored, role, trigger };
  return {
    stored: triggered,
    place: { kind: "asked", agentId, sessionKey },
    decision: kind === "answer" ? { kind, rule, role } : { kind: "ignore", rule },
    exclusive: isExclusive(triggered, undefined),
  };
}

/**
 * Returns true if the platform would reject the answer. Sub-agents and their reports are not refused, because their
 * answers go to agents.
 */
async function isRefusedByPlatform(
  { replyWindows }: GatewayContext,
  { subAgent, delegated }: TriggerTerms,
  event: MessageEvent,
): Promise<boolean> {
  if (subAgent !== undefined || delegated !== undefined) return false;
  return (await replyWindows.findClosed(event)) !== undefined;
}

/**
 * Returns true if a message needs its own run. This is the case if its sender waits for exactly its answer, if it must
 * not disturb another run, or if it is a trigger, whose rights differ from those of people.
 */
export function isExclusive(
  { event, trigger }: Pick<InboundRecord, "event" | "trigger">,
  capabilities: Capabilities | undefined,
): boolean {
  return trigger !== undefined || capabilities?.awaitsSingleAnswer === true || event.turn?.alone === true;
}

/** Returns a conversation key that is unique across platforms. */
function getConversationKey({ channel, account, conversation }: MessageEvent): string {
  return JSON.stringify([channel, account, conversation.id]);
}
