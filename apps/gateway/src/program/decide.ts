import { existsSync } from "node:fs";
import type { MessageEvent } from "@signalbox/channel";
import type { ConfiguredHome, MessageDecision } from "@signalbox/cli";
import { withDatabase } from "@signalbox/home";
import { createGate, createRouter } from "@signalbox/routing";
import { resolveAgents, routingConfig } from "@signalbox/setup";
import { createDecide } from "../path/2-admit/decide.ts";

/** What would be decided about a message, beside a gateway that may be running. */
export async function decide(
  { home, loaded }: ConfiguredHome,
  event: MessageEvent,
): Promise<MessageDecision> {
  const { config } = loaded;
  const isApproved = async (...person: [channel: string, account: string, id: string]): Promise<boolean> =>
    existsSync(home.databaseFile) &&
    withDatabase(home, "read", ({ pairing }) => pairing.isApproved(...person));
  const decideAbout = createDecide({
    router: createRouter(routingConfig(config, resolveAgents(loaded, home))),
    bindings: () => config.bindings,
    gate: createGate(config.access),
    pairing: { isApproved },
    // Of no channel is it known here that it checks tokens.
    tokens: { named: async () => undefined },
    definition: () => undefined,
  });
  const { place, decision } = await decideAbout(event);
  return { agentId: place.agentId, sessionKey: place.sessionKey, decision };
}
