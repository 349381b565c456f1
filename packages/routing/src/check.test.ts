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

/** Who is shadowed by whom, as text. */
function shadows(...bindings: Binding[]): string[] {
  return check(bindings).flatMap((p) =>
    p.code === "shadowed" ? [`${p.bindingIndex} by ${p.by.join(" and ")}`] : [],
  );
}

describe("checkBindings", () => {
  it("has nothing to say of a sound configuration", () => {
    const bindings = [
      to("a", { account: "main", peer: { kind: "direct", id: "ou_1" } }),
      to("b", { account: "main" }),
      to("a"),
    ];
    expect(check(bindings, {}, { accounts: { discord: ["main"] } })).toEqual([]);
  });

  it("finds agents that do not exist", () => {
    expect(check([to("gone")], { defaultAgent: "none" })).toMatchObject([
      {
        code: "unknown-agent",
        bindingIndex: 0,
        message: 'Binding 0 names the agent "gone", which does not exist.',
      },
      { code: "unknown-default-agent" },
    ]);
  });

  it.each<[string, Partial<BindingMatch>]>([
    ["its list of roles is empty", { guildId: "g", roles: [] }],
    ["a direct chat is in no guild and has no roles", { peer: { kind: "direct", id: "*" }, guildId: "g" }],
    ['"disc*" is not a channel, and channels know no patterns', { channel: "disc*" }],
    ['there is no channel "matrix"', { channel: "matrix" }],
    ['no account of discord fits "bot-*"', { account: "bot-*" }],
  ])("finds what can never match: %s", (why, match) => {
    const problems = check([to("a", match)], {}, { accounts: { discord: ["main"] } });
    expect(problems).toMatchObject([
      { code: "never-matches", bindingIndex: 0, message: `Binding 0 can never match: ${why}.` },
    ]);
  });

  it("finds the same conditions given twice", () => {
    const peer = { kind: "direct", id: "1" } as const;
    expect(shadows(to("a", { peer }), to("b", { peer }))).toEqual(["1 by 0"]);
    expect(shadows(to("a", { peer }), to("b", { peer, teamId: "t" }))).toEqual(["1 by 0"]);
    expect(shadows(to("a", { peer, teamId: "t" }), to("b", { peer }))).toEqual([]);
  });

  it("finds accounts that an earlier pattern of the tier covers", () => {
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

  it("finds what an earlier tier takes", () => {
    const groups = to("a", { peer: { kind: "group", id: "*" } });
    const channels = to("a", { peer: { kind: "channel", id: "*" } });
    const direct = to("b", { peer: { kind: "direct", id: "*" } });
    const guild = to("b", { guildId: "g", roles: ["r"] });
    expect(shadows(guild, groups)).toEqual([]);
    expect(shadows(guild, groups, channels)).toEqual(["0 by 1 and 2"]);
    expect(shadows(to("a"), groups, channels)).toEqual([]);
    expect(shadows(to("a"), groups, channels, direct)).toEqual(["0 by 1 and 2 and 3"]);
  });

  it("finds roles that other bindings take one by one", () => {
    const roles = (...roles: string[]) => to("a", { guildId: "g", roles });
    expect(shadows(roles("x"), roles("y"), roles("y", "x"))).toEqual(["2 by 0 and 1"]);
    expect(shadows(roles("x"), roles("y", "x"))).toEqual([]);
  });

  it("does not let a binding that cannot decide shadow others", () => {
    expect(check([to("gone"), to("a")])).toMatchObject([{ code: "unknown-agent" }]);
  });

  it("copes with many bindings", () => {
    const bindings = Array.from({ length: 20_000 }, (_, i) => to("a", { account: `bot-${i % 10_000}` }));
    expect(check(bindings)).toHaveLength(10_000);
  });

  it("finds identity links that cannot work", () => {
    const identityLinks = { alice: ["telegram:1", "telegram"], bob: ["telegram:1", "slack:"] };
    expect(check([], { identityLinks }).map(({ message }) => message)).toEqual([
      'The identity link "telegram" of alice is not written channel:id.',
      '"telegram:1" is linked to alice and to bob; alice has it.',
      'The identity link "slack:" of bob is not written channel:id.',
    ]);
  });

  it("finds reset policies that cannot work", () => {
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
