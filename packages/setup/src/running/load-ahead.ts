import { reasonOf, type Tool } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import type { Config } from "@signalbox/config";
import { type Loadable, warmUp } from "@signalbox/lanes";
import type { Memories } from "@signalbox/memory/agents";
import type { Accounts } from "../accounts.ts";
import type { Agent, Agents } from "../agents.ts";
import type { Models } from "../models.ts";
import type { AgentsSkills } from "../skills.ts";
import { createPromptAhead } from "./prompt-ahead.ts";

export interface LoadAheadPorts {
  /** As it applies at the moment. */
  readonly config: () => Pick<Config, "memory">;
  readonly agents: Pick<Agents, "all">;
  readonly models: Pick<Models, "load" | "of">;
  readonly skills: Pick<AgentsSkills, "seen">;
  readonly accounts: Pick<Accounts, "list" | "definitions">;
  readonly memories: Pick<Memories, "of">;
  /** Makes an agent's tools ahead of its first run. */
  readonly prepareTools: (agent: Agent) => Promise<readonly Tool[]>;
  readonly opened: {
    readonly store: { readonly admin: { readonly prepare: () => Promise<void> } };
    readonly redact: (text: string) => string;
  };
  /** Where this host listens. */
  readonly url: string;
  /** Whether anyone waits for an answer. */
  readonly busy: () => boolean;
  readonly logger: { debug(fields: object, message: string): void };
}

/**
 * Texts have a little of everything that is looked for in them. The second has letters beyond Latin: an expression is
 * compiled once for each of the two, and when it meets a longer text, once more.
 */
const LATIN = 'hello there: https://example.org/?key=value {"password": "x"} on 2026-11-22 '.repeat(50);
const SAMPLES = [LATIN, `${LATIN} 你好`] as const;

/** Loads in idle moments, until `signal` fires, what the first message would have to wait for. */
export function loadAhead(ports: LoadAheadPorts, signal: AbortSignal): void {
  void warmUp({
    parts: partsToLoad(ports),
    busy: ports.busy,
    signal,
    onFailure: (part, error) =>
      ports.logger.debug({ part, err: reasonOf(error) }, "something could not be preloaded"),
  });
}

/** What is loaded, opened or compiled at its first use, in the order in which the first message would wait for it. */
function partsToLoad(ports: LoadAheadPorts): Loadable[] {
  const { config, agents, models, accounts, memories, url } = ports;
  const { store, redact } = ports.opened;
  const buildPrompt = createPromptAhead(ports);
  const ofAgents = (name: string, load: (agent: Agent) => Promise<unknown>): Loadable[] =>
    agents.all.map((agent) => ({ name: `${name} of ${agent.id}`, load: () => load(agent) }));
  return [
    // Asked at this host's own address, where there is nothing: no vendor hears of it.
    { name: "models", load: () => models.load(`${url}/nowhere`) },
    ...usedChannels(accounts).map(({ id, load }) => ({ name: `channel ${id}`, load: async () => load?.() })),
    ...ofAgents("prompt", async (agent) => buildPrompt(agent, await ports.prepareTools(agent))),
    { name: "statements", load: () => store.admin.prepare() },
    ...ofAgents("memory", async (agent) => {
      if (!config().memory.enabled) return;
      const memory = await memories.of(agent);
      for (const text of SAMPLES) await memory.recall(text);
    }),
    { name: "redaction", load: async () => SAMPLES.map((text) => [redact(text), redact(text)]) },
    // The client that channels and vendors are called with, and the server that they call.
    { name: "HTTP", load: async () => (await fetch(`${url}/readyz`)).arrayBuffer() },
  ];
}

/** The channels of the accounts that the configuration names. */
function usedChannels(accounts: LoadAheadPorts["accounts"]): ChannelDefinition[] {
  const used = new Set(accounts.list().map(({ channel }) => channel));
  return accounts.definitions.filter(({ id }) => used.has(id));
}
