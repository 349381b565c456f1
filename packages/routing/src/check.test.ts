import { describe, expect, it } from "vitest";
import { type CheckOptions, checkBindings } from "./check.ts";
import type { Binding, BindingMatch, RoutingConfig } from "./types.ts";

const to = (agent: string, match: Partial<BindingMatch> = {}): Binding => ({
  agent,
  match: { channel: "discord", ...match },
});

function check(bindings: Binding[], rest: Partial<RoutingConfig> = {}, options: CheckOptions = {}) {
  return checkBindings({ agents: ["a", "b"], defaultAgent: "a", ...rest, bindings }, options);
}

/** Returns lines such as "1 by 0": binding 0 shadows binding 1. */
function shadows(...bindings: Binding[]): string[] {
  return check(bindings).flatMap((p) =>
    p.code === "shadowed" ? [`${p.bindingIndex} by ${p.by.join(" and ")}`] : [],
  );
}

describe("checkBindings", () => {
  it("reports nothing for a valid configuration", () => {
    const bindings = [
      to("a", { account: "main", peer: { kind: "direct", id: "ou_1" } }),
      to("b", { account: "main" }),
      to("a"),
    ];
    expect(check(bindings, {}, { accounts: { discord: ["main"] } })).toEqual([]);
  });

  it("reports agents that do not exist", () => {
    expect(check([to("gone")], { defaultAgent: "none" })).toMatchObject([
      {
        code: "unknown_agent",
        bindingIndex: 0,
        message: 'Binding 0 names the agent "gone", which does not exist.',
      },
      { code: "unknown_default_agent" },
    ]);
  });

  it.each<[string, Partial<BindingMatch>]>([
    ["its list of roles is empty", { guildId: "g", roles: [] }],
    ["direct chats have no guild and no roles", { peer: { kind: "direct", id: "*" }, guildId: "g" }],
    ['"disc*" is not a channel, and `channel` does not support patterns', { channel: "disc*" }],
    ['there is no channel "matrix"', { channel: "matrix" }],
    ['no account of discord matches "bot-*"', { account: "bot-*" }],
  ])("reports bindings that can never match: %s", (why, match) => {
    const problems = check([to("a", match)], {}, { accounts: { discord: ["main"] } });
    expect(problems).toMatchObject([
      { code: "never_matches", bindingIndex: 0, message: `Binding 0 can never match: ${why}.` },
    ]);
  });

  it.each([
    ["dm", "Use the kind `direct`."],
    ["room", "Use one of the kinds direct, group, channel."],
  ])("reports the unknown kind of conversation %s with a remedy", (kind, remedy) => {
    const match = JSON.parse(JSON.stringify({ peer: { kind, id: "1" } }));
    const message = `Binding 0 can never match: "${kind}" is not a kind of conversation.`;
    expect(check([to("a", match)])).toEqual([{ code: "never_matches", bindingIndex: 0, message, remedy }]);
  });

  it("reports a binding with the same conditions as an earlier one", () => {
    const peer = { kind: "direct", id: "1" } as const;
    expect(shadows(to("a", { peer }), to("b", { peer }))).toEqual(["1 by 0"]);
    expect(shadows(to("a", { peer }), to("b", { peer, teamId: "t" }))).toEqual(["1 by 0"]);
    expect(shadows(to("a", { peer, teamId: "t" }), to("b", { peer }))).toEqual([]);
  });

  it("reports accounts that an earlier pattern of the tier matches", () => {
    expect(shadows(to("a", { account: "bot-*" }), to("b", { account: "bot-1" }))).toEqual(["1 by 0"]);
    expect(shadows(to("a", { account: "b*1" }), to("b", { account: "bot-*1" }))).toEqual(["1 by 0"]);
    expect(shadows(to("a", { account: "bot-1" }), to("b", { account: "bot-*" }))).toEqual([]);
    expect(shadows(to("a", { account: "bot-*1" }), to("b", { account: "b*1" }))).toEqual([]);
    expect(
      shadows(to("a", { account: "*" }), to("a", { account: "bot-*" }), to("b", { account: "bot-1" })),
    ).toEqual(["2 by 1"]);
    // Tiers come before the order of the list.
    expect(shadows(to("a", { account: "*" }), to("b", { account: "bot-1" }))).toEqual([]);
  });

  it("reports bindings whose messages an earlier tier gets", () => {
    const groups = to("a", { peer: { kind: "group", id: "*" } });
    const channels = to("a", { peer: { kind: "channel", id: "*" } });
    const direct = to("b", { peer: { kind: "direct", id: "*" } });
    const guild = to("b", { guildId: "g", roles: ["r"] });
    expect(shadows(guild, groups)).toEqual([]);
    expect(shadows(guild, groups, channels)).toEqual(["0 by 1 and 2"]);
    expect(shadows(to("a"), groups, channels)).toEqual([]);
    expect(shadows(to("a"), groups, channels, direct)).toEqual(["0 by 1 and 2 and 3"]);
  });

  it("reports a list of roles if other bindings match each of them", () => {
    const roles = (...roles: string[]) => to("a", { guildId: "g", roles });
    expect(shadows(roles("x"), roles("y"), roles("y", "x"))).toEqual(["2 by 0 and 1"]);
    expect(shadows(roles("x"), roles("y", "x"))).toEqual([]);
  });

  it("ignores bindings to unknown agents when it looks for shadows", () => {
    expect(check([to("gone"), to("a")])).toMatchObject([{ code: "unknown_agent" }]);
  });

  it("checks 20,000 bindings", () => {
    const bindings = Array.from({ length: 20_000 }, (_, i) => to("a", { account: `bot-${i % 10_000}` }));
    expect(check(bindings)).toHaveLength(10_000);
  });

  it("reports identity links that cannot work", () => {
    const identityLinks = { alice: ["telegram:1", "telegram"], bob: ["telegram:1", "slack:"] };
    expect(check([], { identityLinks }).map(({ message }) => message)).toEqual([
      'The identity link "telegram" of alice does not have the form channel:id.',
      '"telegram:1" is linked to alice and to bob; the first one, alice, applies.',
      'The identity link "slack:" of bob does not have the form channel:id.',
    ]);
  });

  it("reports reset policies that cannot work", () => {
    const reset = {
      default: { mode: "daily", hour: 24 },
      group: { mode: "daily", hour: 4, timeZone: "Mars/Olympus" },
      direct: { mode: "idle", minutes: 0 },
      channel: { mode: "none" },
    } as const;
    expect(check([], { reset }).map(({ message }) => message)).toEqual([
      "The reset policy for default has the hour 24.",
      "The reset policy for direct has 0 idle minutes.",
      'The reset policy for group names the unknown time zone "Mars/Olympus".',
    ]);
  });
});
