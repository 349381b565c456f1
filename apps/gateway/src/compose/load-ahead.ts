import { reasonOf } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import { type Loadable, warmUp } from "@signalbox/lanes";
import type { Agent } from "@signalbox/setup";
import type { ResolvedConfig } from "../resolve/resolve-config.ts";
import type { Parts } from "./surroundings.ts";
import type { Way } from "./way.ts";

/**
 * Texts have a little of everything that is looked for in them. The second has letters beyond Latin: an expression is
 * compiled once for each of the two, and when it meets a longer text, once more.
 */
const LATIN = 'hello there: https://example.org/?key=value {"password": "x"} on 2026-11-22 '.repeat(50);
const SAMPLES = [LATIN, `${LATIN} 你好`] as const;

/** Loads in idle moments, until `signal` fires, what the first message would have to wait for. */
export function loadAhead(parts: Parts, { lanes }: Way, url: string, signal: AbortSignal): void {
  const { logger } = parts.options;
  void warmUp({
    parts: partsToLoad(parts, url),
    busy: () => lanes.counts().running > 0,
    signal,
    onFailure: (part, error) =>
      logger.debug({ part, err: reasonOf(error) }, "something could not be loaded ahead of its use"),
  });
}

/** What is loaded, opened or compiled at its first use, in the order in which the first message would wait for it. */
function partsToLoad(
  { resolved, opened: { store, redact }, surroundings, configuration }: Parts,
  url: string,
): Loadable[] {
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
      if (!configuration.config().memory.enabled) return;
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
