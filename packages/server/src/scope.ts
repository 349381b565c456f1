import { memberPrefix } from "@signalbox/routing";
import type { Principal } from "./auth/index.ts";
import { type GatewayService, ONCE } from "./service.ts";

/** What of the service depends on who asks. */
export type ScopedService = Pick<
  GatewayService,
  | "version"
  | "live"
  | "agents"
  | "submit"
  | "abort"
  | "busy"
  | "lastRun"
  | "sessionKey"
  | "history"
  | "renameConversation"
  | "removeConversation"
> & {
  answer(messageId: string): ReturnType<GatewayService["answer"]>;
  conversations(): ReturnType<GatewayService["conversations"]>;
};

/**
 * The service as one of its clients has it. Conversations of members are kept apart by the name of their token, which
 * they never see; owners have all of them, under their full names.
 */
export function scopeService(service: GatewayService, principal: Principal): ScopedService {
  const prefix = principal.role === "owner" ? "" : memberPrefix(principal.name);
  const full = (conversation: string): string =>
    conversation.startsWith(ONCE)
      ? `${ONCE}${prefix}${conversation.slice(ONCE.length)}`
      : prefix + conversation;
  return {
    version: service.version,
    live: service.live,
    agents: () => service.agents(),
    busy: (sessionKey) => service.busy(sessionKey),
    lastRun: (sessionKey) => service.lastRun(sessionKey),
    submit: (submission) =>
      service.submit({
        ...submission,
        sender: principal,
        conversation: full(submission.conversation),
      }),
    answer: (messageId) => service.answer(messageId, principal),
    abort: (channel, agent, conversation) => service.abort(channel, agent, full(conversation)),
    sessionKey: (channel, agent, conversation) => service.sessionKey(channel, agent, full(conversation)),
    history: (conversation) => service.history(full(conversation)),
    renameConversation: (conversation, title) => service.renameConversation(full(conversation), title),
    removeConversation: (conversation) => service.removeConversation(full(conversation)),
    async conversations() {
      const own = await service.conversations(prefix);
      return own.map((conversation) => ({ ...conversation, id: conversation.id.slice(prefix.length) }));
    },
  };
}
