import { createHash } from "node:crypto";
import { formatSessionKey } from "@signalbox/routing";

/** The place of a conversation here. */
export interface SessionPlace {
  readonly key: string;
  readonly agentId: string;
  readonly channel: string;
  readonly account: string;
  readonly peer: string;
  readonly kind: "direct" | "group" | "channel";
  readonly thread?: string | undefined;
}

/** Account of the gateway's own channels. */
export const OWN_ACCOUNT = "main";

/** Returns a conversation of the web page, which only owners see. */
export function createPageConversation(agentId: string, id: string): SessionPlace {
  return {
    key: formatSessionKey({ kind: "direct", agentId, channel: "web", peerId: id }),
    agentId,
    channel: "web",
    account: OWN_ACCOUNT,
    peer: id,
    kind: "direct",
  };
}

/** Prefix of the ids of conversations that an import puts on the web page. */
export const IMPORTED_PAGE = "import-";

/** Returns a conversation of owners on the web page for a session of the source that cannot continue here. */
export function placeOnOwnersPage(agentId: string, theirKey: string): SessionPlace {
  const id = createHash("sha256").update(theirKey).digest("hex").slice(0, 16);
  return createPageConversation(agentId, `${IMPORTED_PAGE}${id}`);
}

/** Returns the direct conversation with a person in the scope that this gateway uses. */
export function placeInScope(
  agentId: string,
  person: { readonly channel: string; readonly account: string; readonly peerId: string },
  { dmScope, links }: { readonly dmScope: string; readonly links: ReadonlyMap<string, string> },
  thread: string | undefined,
): SessionPlace {
  const { channel, account, peerId } = person;
  const link = links.get(`${channel}:${peerId}`);
  const threadId = thread === undefined ? {} : { threadId: thread };
  const key =
    dmScope === "main"
      ? formatSessionKey({ kind: "main", agentId })
      : link !== undefined
        ? formatSessionKey({ kind: "direct", agentId, peerId: link, ...threadId })
        : dmScope === "per-peer"
          ? formatSessionKey({ kind: "direct", agentId, peerId, ...threadId })
          : dmScope === "per-account-channel-peer"
            ? formatSessionKey({ kind: "direct", agentId, channel, account, peerId, ...threadId })
            : formatSessionKey({ kind: "direct", agentId, channel, peerId, ...threadId });
  return { key, agentId, channel, account, peer: peerId, kind: "direct", thread };
}
