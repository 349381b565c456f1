import type { MessageEvent } from "@signalbox/channel";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import {
  type AdmissionInput,
  checkBindings,
  type RouteExplanation,
  type RouteInput,
  type Router,
  type RoutingConfig,
} from "@signalbox/routing";
import type { Agents } from "./agents.ts";

/** Maximum number of mismatched bindings per tier in an explanation. */
const MAX_EXPLAINED = 5;

/**
 * Builds the router's configuration for all agents, including unusable ones. A message for an unusable agent results in
 * an error, because another agent would answer with other tools and another memory.
 */
export function routingConfig(config: Config, agents: Agents): RoutingConfig {
  const { dmScope, identityLinks, reset } = config.session;
  return {
    bindings: config.bindings,
    agents: config.agents.list.map((agent) => agent.id),
    defaultAgent: agents.defaultId,
    dmScope,
    identityLinks,
    reset,
  };
}

/** Reports bindings that can never match, and invalid identity links. */
export function routingProblems(loaded: LoadedConfig, agents: Agents): Problem[] {
  const accounts = Object.fromEntries(
    Object.entries(loaded.config.channels).map(([channel, { accounts: named }]) => [
      channel,
      Object.keys(named),
    ]),
  );
  return checkBindings(routingConfig(loaded.config, agents), { accounts }).map((problem) => {
    return loaded.problem("bindingIndex" in problem ? ["bindings", problem.bindingIndex] : ["session"], {
      severity: "warning",
      message: problem.message.replace(/^Binding \d+ /, "").replace(/\.$/, ""),
      ignored: true,
      remedy: problem.remedy,
    });
  });
}

/** Returns the routing input for a message: the sender in a direct chat, otherwise the group or channel. */
export function routeInput(event: MessageEvent): RouteInput {
  const { conversation, sender } = event;
  const peer =
    conversation.kind === "direct"
      ? { kind: conversation.kind, id: sender.id }
      : { kind: conversation.kind, id: conversation.id };
  return {
    channel: event.channel,
    account: event.account,
    peer,
    otherPeerIds: conversation.kind === "direct" ? undefined : conversation.otherIds,
    parentPeer:
      conversation.parentId === undefined
        ? undefined
        : { kind: conversation.kind, id: conversation.parentId },
    guildId: conversation.guildId,
    roles: sender.roles,
    teamId: conversation.teamId,
    threadId: conversation.threadId,
  };
}

/** Returns the admission input for a message, with facts about its route and client. */
export function createAdmissionInput(
  event: MessageEvent,
  known: Pick<AdmissionInput, "bound" | "tokenRole">,
): AdmissionInput {
  return {
    ...known,
    forwardedFrom: event.forwarded && (event.forwarded.from ?? "forwarded"),
    channel: event.channel,
    conversationKind: event.conversation.kind,
    conversationId: event.conversation.id,
    otherConversationIds: event.conversation.otherIds ?? [],
    parentId: event.conversation.parentId,
    senderId: event.sender.id,
    senderIsBot: event.sender.isBot,
    senderIsSelf: event.sender.isSelf,
    addressed: event.addressed,
  };
}

/** Explains how a message was routed. */
export function explainRoute(router: Router, event: MessageEvent): RouteExplanation {
  return router.explain(routeInput(event), { limit: MAX_EXPLAINED });
}
