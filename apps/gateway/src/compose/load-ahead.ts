import type { ChannelDefinition } from "@signalbox/channel";
import type { Loadable } from "@signalbox/lanes";
import type { Agent } from "@signalbox/setup";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import type { GatewayStore } from "../store.ts";
import type { Surroundings } from "./surroundings.ts";

export interface LoadAheadPorts {
  readonly resolved: Pick<ResolvedConfig, "models" | "agents" | "accounts">;
  readonly surroundings: Pick<Surroundings, "toolbox" | "memories">;
  readonly store: Pick<GatewayStore, "admin">;
  readonly redact: (text: string) => string;
  /** Whether memory is on. */
  readonly isRemembering: () => boolean;
  /** Where this gateway listens. */
  readonly url: string;
}

/**
 * Texts have a little of everything that is looked for in them. The second has letters beyond Latin: an expression is
 * compiled once for each of the two, and when it meets a longer text, once more.
 */
const LATIN = 'hello there: https://example.org/?key=value {"password": "x"} on 2026-11-22 '.repeat(50);
const SAMPLES = [LATIN, `${LATIN} 你好`] as const;

/** What is loaded, opened or compiled at its first use, in the order in which the first message would wait for it. */
export function partsToLoad({
  resolved,
  surroundings,
  store,
  redact,
  isRemembering,
  url,
}: LoadAheadPorts): Loadable[] {
  const { models, agents, accounts } = resolved;
  const { toolbox, memories } = surroundings;
  const ofAgents = (name: string, load: (agent: Agent) => Promise<unknown>): Loadable[] =>
    agents.all.map((agent) => ({ name: `${name} of ${agent.id}`, load: () => load(agent) }));
  return [
    { name: "models", load: models.load },
    ...usedChannels(accounts).map(({ id, load }) => ({ name: `channel ${id}`, load: async () => load?.() })),
    ...ofAgents("tools", toolbox.prepare),
    { name: "statements", load: () => store.admin.prepare() },
    ...ofAgents("memory", async (agent) => {
      if (!isRemembering()) return;
      const memory = await memories.of(agent);
      for (const text of SAMPLES) await memory.recall(text);
    }),
    { name: "redaction", load: async () => SAMPLES.map((text) => [redact(text), redact(text)]) },
    // The client that channels and vendors are called with, and the server that they call.
    { name: "HTTP", load: async () => (await fetch(`${url}/readyz`)).arrayBuffer() },
  ];
}

/** The channels of the accounts that the configuration names. */
function usedChannels(accounts: ResolvedConfig["accounts"]): ChannelDefinition[] {
  const used = new Set(accounts.list().map(({ channel }) => channel));
  return accounts.definitions.filter(({ id }) => used.has(id));
}
