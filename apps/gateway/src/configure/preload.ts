import { reasonOf } from "@signalbox/agent-core";
import type { Memories } from "@signalbox/memory/agents";
import type { Logger } from "@signalbox/telemetry/logger";
import type { Agents } from "./agents.ts";
import type { Models } from "./models.ts";

export interface PreloadOptions {
  readonly agents: Agents;
  readonly models: Models;
  /** Undefined if the configuration disables memory. */
  readonly memories: Memories | undefined;
  readonly logger: Logger;
}

/** Imports the SDKs that the configuration needs and opens the agents' memories, one at a time. */
export async function preload(
  { agents, models, memories, logger }: PreloadOptions,
  signal: AbortSignal,
): Promise<void> {
  const steps = [() => models.load(), ...agents.shards.map((agent) => async () => memories?.of(agent))];
  for (const step of steps) {
    if (signal.aborted) return;
    await step().catch((error: unknown) =>
      logger.debug({ err: reasonOf(error) }, "a module could not be preloaded"),
    );
  }
}
