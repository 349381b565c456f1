import { openVault } from "@signalbox/home";
import type { Memory } from "@signalbox/memory";
import { isOneOff } from "@signalbox/server";
import { createAgentMemories } from "@signalbox/setup/memories";
import { createLogger } from "@signalbox/telemetry/logger";
import type { CommonOptions } from "./common-options.ts";
import { configuredHome } from "./configured-home.ts";
import { agentOf } from "./home-agents.ts";
import { withStore } from "./home-store.ts";

export interface AgentOption extends CommonOptions {
  readonly agent?: string;
}

/**
 * What an agent remembers, beside a gateway that may be running. Whoever has the home reads everything that is in it.
 */
export async function withMemory<T>(options: AgentOption, use: (memory: Memory) => Promise<T>): Promise<T> {
  const configured = configuredHome(options);
  const agent = agentOf(configured, options.agent);
  const { home, loaded, env } = configured;
  return withStore(options, "read", async (store) => {
    const logger = createLogger("warn", openVault(loaded, env).redact);
    const memories = createAgentMemories({
      loaded: () => loaded,
      home,
      env,
      store,
      isLeftOut: isOneOff,
      now: Date.now,
      logger,
    });
    try {
      return await use(await memories.of(agent));
    } finally {
      await memories.close();
    }
  });
}

/** What is in a memory and how it is searched, in words. */
export function describeStatus({ notes, turns, vectors }: Awaited<ReturnType<Memory["status"]>>): string {
  const indexed = `${notes} parts of notes and ${turns} turns of conversations`;
  if (vectors === undefined) return `${indexed}, searched by words`;
  const { model, engine, pending, problem } = vectors;
  const left =
    pending === 0 ? "" : `, ${pending} not embedded yet${problem === undefined ? "" : `: ${problem}`}`;
  return `${indexed}, searched by words and vectors (${model}, by ${engine}${left})`;
}
