import type { KvStore, LeaseStore } from "@signalbox/store";
import { z } from "zod";
import type { HeldLease, HeldLeases } from "./held-leases.ts";
import { mayRunOn, type NodeLabels, type Seats } from "./seats.ts";

/** An agent of the configuration, or a shard of one. */
interface SeatedAgent {
  readonly id: string;
  /** The labels of which a node needs one to run the agent. Default: any node may run it. */
  readonly nodes?: readonly string[] | undefined;
}

/**
 * Agents that run on the same node, because their workspaces overlap: a node knows only its own labels of the files.
 * The first agent names the seat.
 */
export type AgentGroup = readonly [SeatedAgent, ...SeatedAgent[]];

function mayRunGroup(node: NodeLabels, group: AgentGroup): boolean {
  return group.every(({ nodes }) => mayRunOn(node, nodes));
}

interface SharedSeatsOptions {
  /** Id of this node, which is also the holder of its leases. */
  readonly node: string;
  readonly leases: Pick<LeaseStore, "list">;
  readonly held: Pick<HeldLeases, "acquire" | "isRecovering">;
  /** Stores the labels of each node. */
  readonly kv: Pick<KvStore, "get" | "set" | "list">;
  /** Returns the labels of this node. */
  readonly labels: () => NodeLabels;
  readonly groups: () => readonly AgentGroup[];
  /** Returns the id of the agent or shard that a session belongs to. */
  readonly getSeat: (agentId: string, sessionKey?: string) => string;
  /**
   * Returns true if this node answers for agents that no node has in its configuration.
   */
  readonly isKeeper: () => boolean;
}

/** Functions of the gateway that move agents. */
export interface SeatWork {
  /** Returns true if this node can run the agents of a free seat. Default: always true */
  readonly isAble?: (agentIds: readonly string[]) => Promise<boolean>;
  /** Takes over the state of an agent, before its messages are answered here. */
  readonly prepare: (agentIds: readonly string[]) => Promise<void>;
  /** Returns true if an agent can move to another node without interrupting anything. */
  readonly isIdle: (agentId: string) => boolean;
  /** Called if another node took a seat although this node had not given it up. */
  readonly onLost: (error: Error) => void;
}

/**
 * Seats of the agents. A seat is a lease, so that another node takes it if this one dies. Wrong seats cost steering and
 * never a duplicate, since the store checks the lease of each write.
 */
export interface SharedSeats extends Seats {
  /**
   * Takes seats that are free, and gives up one seat if another node has fewer agents.
   *
   * @returns the agents that moved to or from this node
   */
  balance(work: SeatWork): Promise<{ readonly taken: readonly string[]; readonly left: readonly string[] }>;
  /** Releases all seats. */
  release(): Promise<void>;
}

const NODES = "nodes";
const SEAT = "seat ";
const GATEWAY = "gateway ";
/** Number of calls for which a free seat is left to a node with fewer agents. */
const PATIENCE = 2;

const nodeSchema = z.object({ name: z.string().optional(), labels: z.array(z.string()) });

/** The nodes and seats at one time. */
interface Overview {
  /** Live nodes other than this one, with their number of agents. */
  readonly others: ReadonlyMap<string, { readonly labels: NodeLabels; readonly agents: number }>;
  /** Holders of valid seats by agent. */
  readonly holders: ReadonlyMap<string, string>;
}

export function createSharedSeats(options: SharedSeatsOptions): SharedSeats {
  return new LeasedSeats(options);
}

class LeasedSeats implements SharedSeats {
  readonly #options: SharedSeatsOptions;
  readonly #seats = new Map<string, HeldLease>();
  /** Agents on other nodes, as of the last look. */
  #elsewhere: ReadonlySet<string> = new Set();
  /** Number of calls for which each seat has been free. */
  #free = new Map<string, number>();
  #published = "";

  constructor(options: SharedSeatsOptions) {
    this.#options = options;
  }

  isHere(agentId: string, sessionKey?: string): boolean {
    return this.holds(this.getSeat(agentId, sessionKey));
  }

  getSeat(agentId: string, sessionKey?: string): string {
    return this.#options.getSeat(agentId, sessionKey);
  }

  holds(seat: string): boolean {
    const group = this.#options.groups().find((agents) => agents.some(({ id }) => id === seat));
    if (group !== undefined) return this.#seats.has(group[0].id);
    // Another node may have the agent in its configuration. Its seat is then in use.
    return !this.#elsewhere.has(seat) && this.#options.isKeeper();
  }

  async balance(work: SeatWork) {
    await this.#publish();
    const overview = await this.#look();
    const left = await this.#giveUp(overview, work);
    const taken = this.#options.held.isRecovering() ? [] : await this.#take(overview, left, work);
    return { taken, left };
  }

  async release(): Promise<void> {
    const seats = [...this.#seats.values()];
    this.#seats.clear();
    await Promise.all(seats.map((seat) => seat.release()));
  }

  /** Stores the labels of this node, if they have changed. */
  async #publish(): Promise<void> {
    const { kv, node, labels } = this.#options;
    const own = labels();
    const text = JSON.stringify(own);
    if (text === this.#published) return;
    await kv.set(NODES, node, own);
    this.#published = text;
  }

  async #look(): Promise<Overview> {
    const { leases, kv, node } = this.#options;
    const [all, nodes] = await Promise.all([leases.list(), kv.list(NODES)]);
    const valid = all.filter(({ isExpired }) => !isExpired);
    const seats = valid.filter(({ name }) => name.startsWith(SEAT));
    const holders = new Map(seats.map(({ name, holder }) => [name.slice(SEAT.length), holder]));
    const labels = new Map(nodes.map(({ key, value }) => [key, nodeSchema.safeParse(value).data]));
    const living = valid.filter(({ name, holder }) => name.startsWith(GATEWAY) && holder !== node);
    const others = living.map(({ holder }) => {
      const agents = seats.filter((seat) => seat.holder === holder).length;
      return [holder, { agents, labels: labels.get(holder) ?? { labels: [] } }] as const;
    });
    this.#elsewhere = new Set([...holders].flatMap(([agent, holder]) => (holder === node ? [] : [agent])));
    return { others: new Map(others), holders };
  }

  /** Releases the seat of an idle agent that may not run here, or that another node with fewer agents may run. */
  async #giveUp({ others }: Overview, { isIdle }: SeatWork): Promise<string[]> {
    const { groups, labels } = this.#options;
    for (const [name, seat] of this.#seats) {
      const group: AgentGroup | undefined = groups().find(([{ id }]) => id === name);
      const isAllowed = group !== undefined && mayRunGroup(labels(), group);
      const hasRoom = [...others.values()].some(
        (node) => node.agents <= this.#seats.size - 2 && mayRunGroup(node.labels, group ?? [{ id: name }]),
      );
      const agentIds = group?.map(({ id }) => id) ?? [name];
      if ((isAllowed && !hasRoom) || !agentIds.every(isIdle)) continue;
      // Messages that arrive from now on wait for the next node.
      this.#seats.delete(name);
      await seat.release();
      return agentIds;
    }
    return [];
  }

  async #take({ others, holders }: Overview, left: readonly string[], work: SeatWork): Promise<string[]> {
    const { groups, held, labels } = this.#options;
    const before = this.#free;
    this.#free = new Map();
    const acquired = new Map<string, HeldLease>();
    const taken: string[] = [];
    for (const group of groups()) {
      const [{ id }] = group;
      if (this.#seats.has(id) || left.includes(id) || !mayRunGroup(labels(), group)) continue;
      if (this.#elsewhere.has(id) && holders.has(id)) continue;
      const own = this.#seats.size + acquired.size;
      const hasRoom = [...others.values()].some(
        (node) => node.agents < own && mayRunGroup(node.labels, group),
      );
      const times = before.get(id) ?? 0;
      this.#free.set(id, times + 1);
      if (hasRoom && times < PATIENCE) continue;
      if ((await work.isAble?.(group.map((agent) => agent.id))) === false) continue;
      const seat = await held.acquire(`${SEAT}${id}`);
      if (seat === undefined) continue;
      acquired.set(id, seat);
      taken.push(...group.map((agent) => agent.id));
    }
    if (acquired.size === 0) return [];
    try {
      await work.prepare(taken);
    } catch (error) {
      // Another node may be able to run the agents.
      await Promise.all([...acquired.values()].map((seat) => seat.release().catch(() => {})));
      throw error;
    }
    for (const [id, seat] of acquired) {
      this.#seats.set(id, seat);
      this.#free.delete(id);
      const onLost = (): void => {
        if (this.#seats.get(id) === seat) work.onLost(new Error(`another node runs the agent ${id}`));
      };
      if (seat.lost.aborted) onLost();
      else seat.lost.addEventListener("abort", onLost, { once: true });
    }
    return taken;
  }
}
