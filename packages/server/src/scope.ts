import { getScopes, type Me } from "@signalbox/protocol";
import { getMemberPrefix } from "@signalbox/routing";
import type { Principal } from "./auth/index.ts";
import { type GatewayService, ONE_OFF_PREFIX } from "./service.ts";

/** The methods of the service whose result depends on the client. */
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
  speak(conversation: string, messageId: string): ReturnType<GatewayService["speak"]>;
  answer(messageId: string): ReturnType<GatewayService["answer"]>;
  conversations(): ReturnType<GatewayService["conversations"]>;
};

/**
 * Limits the service to one client. A member's conversation ids are stored with a prefix that contains the name of the
 * member's token and that the member never sees. Owners see all conversations under their stored ids.
 */
export function scopeService(service: GatewayService, principal: Principal): ScopedService {
  const prefix = principal.role === "owner" ? "" : getMemberPrefix(principal.name);
  const toStoredId = (conversation: string): string =>
    conversation.startsWith(ONE_OFF_PREFIX)
      ? `${ONE_OFF_PREFIX}${prefix}${conversation.slice(ONE_OFF_PREFIX.length)}`
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
        conversation: toStoredId(submission.conversation),
      }),
    answer: (messageId) => service.answer(messageId, principal),
    abort: (channel, agent, conversation) => service.abort(channel, agent, toStoredId(conversation)),
    sessionKey: (channel, agent, conversation) =>
      service.sessionKey(channel, agent, toStoredId(conversation)),
    history: (conversation) => service.history(toStoredId(conversation)),
    speak: (conversation, messageId) => service.speak(toStoredId(conversation), messageId, principal),
    renameConversation: (conversation, title) => service.renameConversation(toStoredId(conversation), title),
    removeConversation: (conversation) => service.removeConversation(toStoredId(conversation)),
    async conversations() {
      const own = await service.conversations(prefix);
      return own.map((conversation) => ({ ...conversation, id: conversation.id.slice(prefix.length) }));
    },
  };
}

/** Describes a principal in the format of the protocol. */
export function getUserInfo({ name, role }: Principal): Me["user"] {
  return { id: name, name, role, scopes: [...getScopes(role)] };
}
