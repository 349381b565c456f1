import { describe, expect, it } from "vitest";
import { openRouteCache } from "../test/open-route-cache.ts";
import type { MatchedBy } from "./route.ts";
import { createRouter, RoutingConfigError } from "./router.ts";
import type { Binding, BindingMatch, RouteInput, RoutingConfig } from "./types.ts";

const agents = ["main", "a", "b"];
const to = (agent: string, match: Omit<BindingMatch, "channel"> = {}): Binding => ({
  agent,
  match: { channel: "discord", ...match },
});
const createConfig = (...bindings: Binding[]): RoutingConfig => ({ agents, defaultAgent: "main", bindings });
const message: RouteInput = {
  channel: "discord",
  account: "bot-1",
  peer: { kind: "channel", id: "T1" },
  parentPeer: { kind: "channel", id: "C1" },
  guildId: "G1",
  roles: ["dev", "admin"],
  teamId: "W1",
  threadId: "T1",
};

describe("the tiers", () => {
  const ladder: readonly (readonly [MatchedBy, Binding])[] = [
    ["binding.peer", to("a", { peer: { kind: "channel", id: "T1" } })],
    ["binding.peer.parent", to("a", { peer: { kind: "channel", id: "C1" } })],
    ["binding.peer.wildcard", to("a", { peer: { kind: "channel", id: "*" } })],
    ["binding.guild+roles", to("a", { guildId: "G1", roles: ["owner", "admin"] })],
    ["binding.guild", to("a", { guildId: "G1" })],
    ["binding.team", to("a", { teamId: "W1" })],
    ["binding.account", to("a", { account: "bot-*" })],
    ["binding.channel", to("a", { account: "*" })],
  ];

  it("are tried in strict order, independent of the order of the bindings", () => {
    for (let from = 0; from < ladder.length; from++) {
      const rest = ladder.slice(from);
      const bindings = rest.map(([, binding]) => binding).reverse();
      expect(createRouter(createConfig(...bindings)).resolve(message)).toMatchObject({
        agentId: "a",
        matchedBy: rest[0]?.[0],
        bindingIndex: rest.length - 1,
      });
    }
  });

  it("compare a binding's peer with every id of the conversation", () => {
    const router = createRouter(createConfig(to("a", { peer: { kind: "channel", id: "T2" } })));
    const moved = { ...message, otherPeerIds: ["T2"] };
    expect(router.resolve(moved)).toMatchObject({
      matchedBy: "binding.peer",
      sessionKey: expect.stringContaining("T1"),
    });
    expect(router.resolve(message)).toMatchObject({ matchedBy: "default" });
    expect(router.resolve({ ...moved, peer: { kind: "group", id: "T1" } })).toMatchObject({
      matchedBy: "default",
    });
  });

  it("end with the default agent", () => {
    expect(createRouter(createConfig()).resolve(message)).toEqual({
      agentId: "main",
      matchedBy: "default",
      sessionKey: "agent:main:discord:bot-1:channel:T1",
    });
  });

  it("choose the first listed of several bindings that match", () => {
    const bindings = [
      to("b", { account: "bot-2" }),
      to("a", { account: "*-1" }),
      to("b", { account: "bot-1" }),
    ];
    expect(createRouter(createConfig(...bindings)).resolve(message)).toMatchObject({
      agentId: "a",
      bindingIndex: 1,
    });
  });

  it("require all conditions of a binding", () => {
    const peer = { kind: "channel", id: "T1" } as const;
    for (const other of [
      { guildId: "G2" },
      { teamId: "W2" },
      { roles: ["owner"] },
      { account: "bot-2" },
      { roles: [] },
    ]) {
      const router = createRouter(createConfig(to("a", { peer, ...other })));
      expect(router.resolve(message).matchedBy).toBe("default");
    }
  });

  it("do not confuse the ids of different fields", () => {
    // Concatenated, the peer and guild of the binding equal those of the message.
    const bound = to("a", { peer: { kind: "channel", id: "1/x" }, guildId: "y" });
    const near = { ...message, peer: { kind: "channel", id: "1" }, guildId: "x/y" } as const;
    expect(createRouter(createConfig(bound)).resolve(near).matchedBy).toBe("default");
    expect(
      createRouter(createConfig(bound)).resolve({
        ...near,
        peer: { kind: "channel", id: "1/x" },
        guildId: "y",
      }).agentId,
    ).toBe("a");
  });

  it("compare kinds and ids exactly", () => {
    for (const peer of [
      { kind: "group", id: "T1" },
      { kind: "channel", id: "t1" },
    ] as const) {
      expect(createRouter(createConfig(to("a", { peer }))).resolve(message).matchedBy).toBe("default");
    }
  });
});

describe("a router", () => {
  it("skips bindings to agents that do not exist", () => {
    const router = createRouter(createConfig(to("gone"), to("a")));
    expect(router.resolve(message)).toMatchObject({ agentId: "a", bindingIndex: 1 });
  });

  it("rejects a default agent that does not exist", () => {
    expect(() => createRouter({ agents, bindings: [], defaultAgent: "gone" })).toThrow(RoutingConfigError);
  });

  it("ignores later changes to the configuration object", () => {
    const match = { channel: "discord", account: "bot-1" };
    const bindings = [{ agent: "a", match }];
    const router = createRouter({ agents, defaultAgent: "main", bindings });
    match.account = "bot-2";
    bindings.length = 0;
    expect(router.resolve(message).agentId).toBe("a");
  });

  it("returns frozen routes", () => {
    expect(Object.isFrozen(createRouter(createConfig(to("a"))).resolve(message))).toBe(true);
  });

  it("applies the reset policy of a kind of conversation", () => {
    const reset = { default: { mode: "none" }, group: { mode: "idle", minutes: 5 } } as const;
    const router = createRouter({ ...createConfig(), reset });
    const at = { lastMessageAt: 0, now: 5 * 60_000 };
    expect(router.isResetDue("group", at)).toBe(true);
    expect(router.isResetDue("direct", at)).toBe(false);
    expect(createRouter(createConfig()).isResetDue("group", at)).toBe(false);
  });

  it("has a digest of everything that routes depend on", () => {
    const base = createConfig(to("a", { guildId: "G1" }), to("b"));
    const digests = [
      base,
      createConfig(to("b"), to("a", { guildId: "G1" })),
      createConfig(to("a", { teamId: "G1" }), to("b")),
      { ...base, agents: ["main", "a"] },
      { ...base, defaultAgent: "b" },
      { ...base, dmScope: "main" } as const,
      createConfig(to("a", { guildId: "G1", teamId: "W1" }), to("b")),
      createConfig(to("a", { guildId: "G1", account: "bot-1" }), to("b")),
      createConfig(to("a", { guildId: "G1", roles: [] }), to("b")),
      createConfig(to("a", { guildId: "G1", peer: { kind: "group", id: "*" } }), to("b")),
      { ...base, identityLinks: { alice: ["discord:1"] } },
      { ...base, identityLinks: { alice: ["discord:2"] } },
    ].map((config) => createRouter(config).digest);
    expect(new Set(digests).size).toBe(digests.length);
    const same = {
      ...base,
      dmScope: "per-channel-peer",
      agents: [...agents].reverse(),
      reset: undefined,
    } as const;
    expect(createRouter(same).digest).toBe(digests[0]);
    const routes = [base, same, createConfig()].map(
      (config) => createRouter(config).explain(message).cache.digest,
    );
    expect(routes[1]).toBe(routes[0]);
    expect(routes[2]).not.toBe(routes[0]);
  });
});

describe("explain", () => {
  it("lists for every tier the bindings tried and why they did not match", () => {
    const { tiers, route } = createRouter(
      createConfig(
        to("a", { peer: { kind: "channel", id: "T9" } }),
        to("a", { guildId: "G1", roles: ["owner"] }),
        to("gone", { guildId: "G1" }),
        to("b", { guildId: "G1" }),
        to("a", { account: "bot-2" }),
      ),
    ).explain(message);
    expect(route).toMatchObject({ agentId: "b", bindingIndex: 3 });
    expect(tiers.map(({ tier, outcome }) => `${tier} ${outcome}`)).toEqual([
      "binding.peer no_match",
      "binding.peer.parent no_match",
      "binding.peer.wildcard no_match",
      "binding.guild+roles no_match",
      "binding.guild matched",
      "binding.team not_reached",
      "binding.account not_reached",
      "binding.channel not_reached",
      "default not_reached",
    ]);
    expect(tiers.flatMap((tier) => tier.tried)).toEqual([
      {
        bindingIndex: 0,
        agent: "a",
        mismatches: [{ field: "peer", wanted: "channel T9", got: "channel T1" }],
      },
      {
        bindingIndex: 0,
        agent: "a",
        mismatches: [{ field: "peer", wanted: "channel T9", got: "channel C1" }],
      },
      { bindingIndex: 1, agent: "a", mismatches: [{ field: "roles", wanted: "owner", got: "dev, admin" }] },
      { bindingIndex: 2, agent: "gone", mismatches: [{ field: "agent", wanted: "gone" }] },
    ]);
  });

  it("lists at most `limit` bindings, and counts all", () => {
    const many = Array.from({ length: 50 }, (_, i) => to("a", { account: `bot-x${i}` }));
    const report = createRouter(createConfig(...many))
      .explain(message, { limit: 3 })
      .tiers.find(({ tier }) => tier === "binding.account");
    expect(report).toMatchObject({ bindings: 50, reason: "None of 50 bindings matches." });
    expect(report?.tried).toHaveLength(3);
  });

  it("reports the source of a route without changing the caches", async () => {
    const cache = await openRouteCache();
    const first = createRouter(createConfig(to("a")), { cache });
    expect(first.explain(message).cache).toMatchObject({ source: "none", config: first.digest });
    expect(first.explain(message).cache.source).toBe("none");
    first.resolve(message);
    expect(first.explain(message).cache.source).toBe("memory");
    await first.flush();
    const second = createRouter(createConfig(to("a")), { cache });
    expect(await second.warm()).toBe(1);
    expect(second.explain(message).cache.source).toBe("store");
    second.resolve(message);
    expect(second.explain(message).cache.source).toBe("memory");
  });

  it("names the person that the sender is linked to", () => {
    const router = createRouter({ ...createConfig(), identityLinks: { alice: ["discord:U1"] } });
    const { session, route } = router.explain({
      ...message,
      peer: { kind: "direct", id: "U1" },
      threadId: undefined,
    });
    expect(session).toMatchObject({ linkedTo: "alice", reason: "discord:U1 is linked to alice." });
    expect(route.sessionKey).toBe("agent:main:direct:alice");
  });
});
