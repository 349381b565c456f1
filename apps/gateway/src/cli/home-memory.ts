import { randomUUID } from "node:crypto";
import { GatewayError, openVault } from "@signalbox/home";
import type { Memory } from "@signalbox/memory";
import type { Lease } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { createAgentMemories } from "../agent/memories.ts";
import type { CommonOptions } from "./common-options.ts";
import { configuredHome } from "./configured-home.ts";
import { getAgent } from "./home-agents.ts";
import { type HomeStore, withStore } from "./home-store.ts";

export interface AgentOption extends CommonOptions {
  readonly agent?: string;
}

/**
 * Opens an agent's memory, whether or not a gateway is running. The caller may read all of it, because the caller can
 * read the home.
 */
export async function withMemory<T>(options: AgentOption, use: (memory: Memory) => Promise<T>): Promise<T> {
  const configured = configuredHome(options);
  const agent = getAgent(configured, options.agent);
  const { home, loaded, env } = configured;
  // Embeddings may cost money, which is recorded in the store.
  const isPaid = loaded.config.memory.embeddings !== "none" && loaded.config.budgets.length > 0;
  return withStore(options, isPaid ? "share" : "read", async (store) => {
    const logger = createLogger("warn", openVault(loaded, env).redact);
    const lease = isPaid ? await commandLease(store) : undefined;
    const config = { current: () => ({ loaded, settings: loaded.config }) };
    const reports = lease && {
      ledger: store.budgets.ledger(lease),
      onNotice: () => {},
      logger,
      now: Date.now,
    };
    const memories = createAgentMemories({ home, env, config, store, now: Date.now, logger }, reports);
    try {
      return await use(await memories.of(agent));
    } finally {
      await memories.close();
      if (lease !== undefined) await store.leases.release(lease);
    }
  });
}

/**
 * Duration of the lease, in milliseconds, which is long enough to build an index. Reservations of a killed command
 * count as spent after this time.
 */
const LEASE_MS = 86_400_000;

/** Acquires the lease that allows this process to reserve costs. */
async function commandLease({ leases }: HomeStore): Promise<Lease> {
  const lease = await leases.acquire(`command ${process.pid}`, randomUUID(), LEASE_MS);
  if (lease === undefined)
    throw new GatewayError("failure", "A command that was killed still holds a lease. Try again.");
  return lease;
}

/** Describes a memory's size and search method. */
export function describeStatus({ notes, turns, vectors }: Awaited<ReturnType<Memory["status"]>>): string {
  const indexed = `${notes} note sections and ${turns} conversation turns`;
  if (vectors === undefined) return `${indexed}, keyword search`;
  const { model, engine, pending, problem } = vectors;
  const left =
    pending === 0 ? "" : `, ${pending} not embedded yet${problem === undefined ? "" : `: ${problem}`}`;
  return `${indexed}, keyword and vector search (${model}, by ${engine}${left})`;
}
