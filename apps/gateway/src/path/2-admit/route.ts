import type { MessageEvent } from "@signalbox/channel";
import type { RouteExplanation, RouteInput, Router } from "@signalbox/routing";

/** Bindings of each tier whose mismatches are told. */
const BINDINGS_TOLD = 5;

/** What routing reads of a message: the person in a direct chat, else the group or channel. */
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

/** How the route of a message came about. */
export function explainRoute(router: Pick<Router, "explain">, event: MessageEvent): RouteExplanation {
  return router.explain(routeInput(event), { limit: BINDINGS_TOLD });
}
