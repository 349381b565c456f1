import { fitsPattern, isEveryAccount } from "./pattern.ts";
import { isAnyPeer, TIERS, tierOf } from "./tiers.ts";
import type { Binding, RouteInput, RouteTier } from "./types.ts";

/*
 * Bindings that ask for the same fields have the same shape. All bindings of one shape stand in one map, under a key
 * made of the values they ask for; the key made of a message's values finds the first of them in one step. A tier has
 * a handful of shapes, so a route costs a handful of look-ups however many bindings there are.
 */
const PEER = 1;
const ANY_PEER = 2;
const GUILD = 4;
const ROLES = 8;
const TEAM = 16;

interface Shape {
  readonly fields: number;
  /** Place of the first binding with these values. */
  readonly first: Map<string, number>;
}

/** The bindings of one channel that apply to some accounts, tier by tier in the order of {@link TIERS}. */
export interface Compiled {
  readonly size: number;
  readonly tiers: readonly (readonly Shape[])[];
}

/** The bindings of one channel. */
export interface ChannelBindings {
  /** Those that apply to every account, compiled once for all. */
  readonly everyAccount: Compiled;
  /** Places of those that name one account. */
  readonly exact: ReadonlyMap<string, readonly number[]>;
  /** Places of those with a pattern. */
  readonly patterns: readonly number[];
}

/** A binding with its place in the configuration. */
type Placed = readonly [index: number, binding: Binding];

/** Sorts bindings by channel. Bindings to agents that do not exist are left out. */
export function byChannel(
  bindings: readonly Binding[],
  agents: ReadonlySet<string>,
): Map<string, ChannelBindings> {
  const placed = new Map<string, Placed[]>();
  bindings.forEach((binding, index) => {
    if (!agents.has(binding.agent)) return;
    const list = placed.get(binding.match.channel);
    if (list === undefined) placed.set(binding.match.channel, [[index, binding]]);
    else list.push([index, binding]);
  });
  return new Map([...placed].map(([channel, list]) => [channel, channelBindings(list)]));
}

function channelBindings(placed: readonly Placed[]): ChannelBindings {
  const every: Placed[] = [];
  const exact = new Map<string, number[]>();
  const patterns: number[] = [];
  for (const one of placed) {
    const [index, { match }] = one;
    if (isEveryAccount(match.account)) every.push(one);
    else if (match.account?.includes("*")) patterns.push(index);
    else if (match.account !== undefined) {
      const list = exact.get(match.account);
      if (list === undefined) exact.set(match.account, [index]);
      else list.push(index);
    }
  }
  return { everyAccount: compile(every), exact, patterns };
}

/** Compiles what applies to one account but not to every one. */
export function compileAccount(
  channel: ChannelBindings,
  account: string,
  bindings: readonly Binding[],
): Compiled {
  const places = [
    ...(channel.exact.get(account) ?? []),
    ...channel.patterns.filter((index) => fitsPattern(bindings[index]?.match.account, account)),
  ].sort((a, b) => a - b);
  return compile(
    places.flatMap((index) => {
      const binding = bindings[index];
      return binding === undefined ? [] : [[index, binding] as const];
    }),
  );
}

/** Bindings come in the order of the configuration: the first with the same values wins. */
function compile(placed: readonly Placed[]): Compiled {
  const tiers: Map<number, Shape>[] = TIERS.map(() => new Map());
  for (const [index, { match }] of placed) {
    const fields =
      (match.peer === undefined ? 0 : isAnyPeer(match.peer) ? ANY_PEER : PEER) |
      (match.guildId === undefined ? 0 : GUILD) |
      (match.roles === undefined ? 0 : ROLES) |
      (match.teamId === undefined ? 0 : TEAM);
    const tier = tierOf(match);
    for (const one of tier === "binding.peer" ? PEER_TIERS : [tier]) {
      const shapes = tiers[TIERS.indexOf(one)];
      if (shapes === undefined) continue;
      const shape = shapes.get(fields) ?? { fields, first: new Map<string, number>() };
      shapes.set(fields, shape);
      const head = keyHead(fields, match.peer?.kind, match.peer?.id, match.guildId, match.teamId);
      for (const role of match.roles ?? [""]) {
        const key = head + role;
        if (!shape.first.has(key)) shape.first.set(key, index);
      }
    }
  }
  return { size: placed.length, tiers: tiers.map((shapes) => [...shapes.values()]) };
}

const PEER_TIERS: readonly RouteTier[] = ["binding.peer", "binding.peer.parent"];

/** The values of the fields, each with its length before it, so that no id can pass for two. */
function keyHead(
  fields: number,
  kind: string | undefined,
  id: string | undefined,
  guild: string | undefined,
  team: string | undefined,
): string {
  let key = "";
  if (fields & (PEER | ANY_PEER)) key += kind;
  if (fields & PEER) key += `${id?.length}:${id}`;
  if (fields & GUILD) key += `/${guild?.length}:${guild}`;
  if (fields & TEAM) key += `/${team?.length}:${team}`;
  return `${key}/`;
}

/** The binding that decides, or undefined. */
export function decide(
  input: RouteInput,
  everyAccount: Compiled,
  thisAccount: Compiled,
): { readonly tier: RouteTier; readonly index: number } | undefined {
  for (let place = 0; place < TIERS.length; place++) {
    const tier = TIERS[place];
    if (tier === undefined) break;
    const index = Math.min(
      firstOf(thisAccount.tiers[place], input, tier),
      firstOf(everyAccount.tiers[place], input, tier),
    );
    if (index !== Number.POSITIVE_INFINITY) return { tier, index };
  }
  return undefined;
}

function firstOf(shapes: readonly Shape[] = [], input: RouteInput, tier: RouteTier): number {
  let found = Number.POSITIVE_INFINITY;
  const peer = tier === "binding.peer.parent" ? input.parentPeer : input.peer;
  for (const { fields, first } of shapes) {
    if (fields & (PEER | ANY_PEER) && peer === undefined) continue;
    if (fields & GUILD && input.guildId === undefined) continue;
    if (fields & TEAM && input.teamId === undefined) continue;
    const head = keyHead(fields, peer?.kind, peer?.id, input.guildId, input.teamId);
    if (fields & ROLES) {
      for (const role of input.roles ?? []) found = Math.min(found, first.get(head + role) ?? found);
    } else {
      found = Math.min(found, first.get(head) ?? found);
    }
  }
  return found;
}
