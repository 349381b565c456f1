import type { ChannelDefinition, MessageEvent } from "@signalbox/channel";
import { GatewayError, hasDatabase, withDatabase } from "@signalbox/home";
import { type AdmissionDecision, createAdmission, createRouter, getTokenName } from "@signalbox/routing";
import { resolveAgents } from "../configure/agents.ts";
import { routingConfig } from "../configure/routing.ts";
import { createSurfaces } from "../configure/surfaces.ts";
import { decideFrom } from "../pipeline/2-admit/decide-admission.ts";
import type { ConfiguredHome } from "./host.ts";

/** The decision about a message. */
interface MessageDecision {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly decision: AdmissionDecision;
}

/** Decides about a message with the gateway's own code, without a running gateway. */
export async function decideAt(
  { home, loaded }: ConfiguredHome,
  event: MessageEvent,
): Promise<MessageDecision> {
  const { config } = loaded;
  const own = ownChannel(event.channel);
  const isStored = await hasDatabase(home);
  const sources = {
    router: createRouter(routingConfig(config, resolveAgents(loaded, home))),
    bindings: config.bindings,
    admission: createAdmission(config.access),
    pairing: {
      isApproved: async (channel: string, account: string, peerId: string) =>
        isStored && withDatabase(home, "read", ({ pairing }) => pairing.isApproved(channel, account, peerId)),
    },
    tokens: {
      named: async (name: string) =>
        isStored ? withDatabase(home, "read", ({ access }) => access.tokens.named(name)) : undefined,
    },
    getCapabilities: () => own?.capabilities,
  };
  const { place, decision } = await decideFrom(sources, own === undefined ? event : fromTokenHolder(event));
  return { agentId: place.agentId, sessionKey: place.sessionKey, decision };
}

/** Returns the gateway's own channel with this id, if any. */
function ownChannel(id: string): ChannelDefinition | undefined {
  const nothing = () => Promise.reject(new Error("nothing is fetched to decide about a message"));
  const files = { open: nothing };
  return Object.values(createSurfaces(nothing, { uploads: files, carried: files }))
    .map(({ definition }) => definition)
    .find((definition) => definition.id === id);
}

/** Matches the sender ids of hooks and of clients that use the gateway's own token. */
const BY_OWN_TOKEN = /^(?:owner|token|hook:.+)$/;

/** Adds the role of a named token, as stored in the database. */
function fromTokenHolder(event: MessageEvent): MessageEvent {
  const { channel, sender } = event;
  if (!BY_OWN_TOKEN.test(sender.id) && getTokenName(sender.id) === undefined) {
    const ids = `${channel}:token for the gateway's own, ${channel}:token:<name> for one with a name`;
    throw new GatewayError("usage", `Senders on ${channel} authenticate with a token. Write ${ids}.`);
  }
  return { ...event, sender: { ...event.sender, authenticatedAs: "owner" } };
}
