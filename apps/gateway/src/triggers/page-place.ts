import { formatSessionKey } from "@signalbox/routing";
import { OWN_ACCOUNT } from "../configure/accounts.ts";
import type { Place } from "./trigger.ts";

/** A conversation and the session to which messages there belong. */
export interface Destination {
  readonly place: Place;
  readonly sessionKey: string;
}

/** Returns a separate conversation with an agent on the web page, with an owner as the sender. */
export function createPagePlace(agentId: string, name: "heartbeat" | "schedules"): Destination {
  const channel = "web";
  const id = `${name}-${agentId}`;
  return {
    sessionKey: formatSessionKey({ kind: "direct", agentId, channel, peerId: id }),
    place: {
      channel,
      account: OWN_ACCOUNT,
      address: `${channel}:${id}`,
      conversation: { id, kind: "direct" },
      sender: { id, isBot: false, isSelf: false, authenticatedAs: "owner" },
    },
  };
}
