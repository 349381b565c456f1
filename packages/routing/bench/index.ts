// Measures a cached and an uncached route with many bindings, compared with two baselines of the same run: one
// look-up in a Map, and trying the bindings one by one.
import { performance } from "node:perf_hooks";
import { type Binding, createRouter, type RouteInput, type RoutingConfig } from "../src/index.ts";
import { referenceRoute } from "../test/reference.ts";

const agents = Array.from({ length: 20 }, (_, i) => `agent-${i}`);
const agentOf = (i: number) => agents[i % agents.length] ?? "agent-0";

/** The mix of a large installation: people, threads, guilds with roles, teams, accounts. */
function mixed(count: number): Binding[] {
  return Array.from({ length: count }, (_, i): Binding => {
    const on = { channel: "discord" };
    const agent = agentOf(i);
    switch (i % 5) {
      case 0:
        return { agent, match: { ...on, peer: { kind: "direct", id: `u${i}` } } };
      case 1:
        return { agent, match: { ...on, account: "bot-*", peer: { kind: "channel", id: `c${i}` } } };
      case 2:
        return { agent, match: { ...on, guildId: `g${i % 997}`, roles: [`r${i}`, `s${i}`] } };
      case 3:
        return { agent, match: { ...on, guildId: `g${i}`, peer: { kind: "channel", id: "*" } } };
      default:
        return { agent, match: { ...on, account: `bot-${i}`, teamId: `t${i % 13}` } };
    }
  });
}

function message(i: number): RouteInput {
  return {
    channel: "discord",
    account: `bot-${i % 50}`,
    peer: { kind: "channel", id: `c${i}` },
    parentPeer: { kind: "channel", id: `p${i}` },
    guildId: `g${i % 10_000}`,
    roles: [`r${i % 10_000}`, "everyone", "member"],
  };
}

/** Returns nanoseconds per call, as the median of several rounds. */
function time(calls: number, call: (i: number) => unknown): number {
  const rounds: number[] = [];
  for (let round = 0; round < 9; round++) {
    const start = performance.now();
    for (let i = 0; i < calls; i++) call(i);
    rounds.push(((performance.now() - start) / calls) * 1e6);
  }
  rounds.sort((a, b) => a - b);
  return rounds[4] ?? Number.NaN;
}

const COUNT = 10_000;
const config: RoutingConfig = { bindings: mixed(COUNT), agents, defaultAgent: "agent-0" };
const messages = Array.from({ length: 5_000 }, (_, i) => message(i));
const at = (i: number): RouteInput => messages[i % messages.length] ?? message(i);

const nameOf = ({ channel, account, peer }: RouteInput) => `${channel}:${account}:${peer.kind}:${peer.id}`;
const map = new Map(messages.map((one) => [nameOf(one), one]));
let found = 0;
const lookup = time(200_000, (i) => {
  if (map.get(nameOf(at(i))) !== undefined) found++;
});
if (found === 0) throw new Error("the floor found nothing");
const linear = time(20, (i) => referenceRoute(config, at(i)));

const warm = createRouter(config);
for (const message of messages) warm.resolve(message);
const cached = time(200_000, (i) => warm.resolve(at(i)));

const cold = createRouter(config, { maxRoutes: 0 });
for (const message of messages) cold.resolve(message);
const uncached = time(50_000, (i) => cold.resolve(at(i)));

const small = createRouter({ ...config, bindings: mixed(10) }, { maxRoutes: 0 });
const uncachedSmall = time(50_000, (i) => small.resolve(at(i)));

// The worst case: every binding is compared, since each has an account pattern.
const patterns = mixed(COUNT).map(({ agent }, i) => ({
  agent,
  match: { channel: "discord", account: `bot-*${i}` },
}));
const patterned = createRouter({ ...config, bindings: patterns }, { maxRoutes: 0 });
const everyPattern = time(20, (i) => patterned.resolve(at(i)));

const explained = time(20, (i) => warm.explain(at(i)));
const made = time(3, () => createRouter(config));

const row = (name: string, ns: number, floor: number, floorName: string) => {
  const shown = ns < 1_000 ? `${ns.toFixed(0)} ns` : `${(ns / 1_000).toFixed(2)} µs`;
  console.log(
    `${name.padEnd(58)} ${shown.padStart(12)}   ${(ns / floor).toPrecision(3).padStart(9)} × ${floorName}`,
  );
};
console.log(`routing, ${COUNT.toLocaleString("en")} bindings, Node.js ${process.versions.node}\n`);
row("floor: one look-up in a Map, under a key made each time", lookup, lookup, "look-up");
row("floor: the bindings one by one", linear, linear, "one by one");
row("cached route", cached, lookup, "look-up");
row("uncached route", uncached, linear, "one by one");
row("uncached route, 10 bindings", uncachedSmall, linear, "one by one");
row("uncached route where every binding has an account pattern", everyPattern, linear, "one by one");
row("explanation", explained, linear, "one by one");
row("making a router", made, linear, "one by one");
