import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allowsTool, type DecisionInput, decideByPolicy, type ToolPolicy } from "./policy.ts";
import { createRunState } from "./run-state.ts";
import type { Claim, ClaimKind, Role, RunFacts, TaintMark } from "./types.ts";

const facts = (change: Partial<RunFacts> = {}): RunFacts => ({
  agentId: "coder",
  sessionKey: "s",
  role: "member",
  channelKind: "direct",
  taint: [],
  ...change,
});
const ask = (
  policy: ToolPolicy,
  tool: string,
  change: Partial<RunFacts> = {},
  claims: readonly Claim[] = [],
) => {
  const { decision, rule } = decideByPolicy(policy, {
    tool: { name: tool, effects: "external" },
    claims,
    facts: facts(change),
  });
  return `${decision} ${rule}`;
};

describe("lists", () => {
  test.each([
    [["*"], "exec", "allow agent_allow"],
    [["exec"], "exec", "allow agent_allow"],
    [["group:fs"], "edit", "allow agent_allow"],
    [["group:fs"], "exec", "deny agent_allow"],
    [["mcp__github__*"], "mcp__github__list", "allow agent_allow"],
    [["mcp__github__*"], "mcp__gitlab__list", "deny agent_allow"],
    [["Exec"], "exec", "deny agent_allow"],
    [["group:none"], "exec", "deny agent_allow"],
    [["group:constructor"], "exec", "deny agent_allow"],
    [[], "read", "deny agent_allow"],
  ])("allow %j: the decision about %s is %s", (allow, tool, expected) => {
    expect(ask({ allow }, tool)).toBe(expected);
  });

  test("deny wins over ask, and ask over allow", () => {
    expect(ask({ allow: ["*"], deny: ["exec"], ask: ["*"] }, "exec")).toBe("deny agent_deny");
    expect(ask({ allow: ["*"], ask: ["exec"] }, "exec")).toBe("ask agent_ask");
    expect(
      ask({ ask: ["exec"], channelKinds: { group: { deny: ["exec"] } } }, "exec", { channelKind: "group" }),
    ).toBe("deny channel_deny:group");
  });

  test("the rule of a group narrows the agent's tools, in its threads too", () => {
    const policy = { groups: { "telegram:-100": { deny: ["exec"] }, "telegram:7": { allow: ["read"] } } };
    expect(ask(policy, "exec", { groups: ["telegram:-100"] })).toBe("deny group_deny:telegram:-100");
    expect(ask(policy, "exec", { groups: ["telegram:9", "telegram:-100"] })).toBe(
      "deny group_deny:telegram:-100",
    );
    expect(ask(policy, "write", { groups: ["telegram:7", "telegram:-100"] })).toBe(
      "deny group_allow:telegram:7",
    );
    expect(ask(policy, "exec", { groups: ["telegram:8"] })).toBe("allow agent_allow");
    expect(ask({ ...policy, deny: ["read"] }, "read", { groups: ["telegram:7"] })).toBe("deny agent_deny");
  });

  test.each([
    ["always", "ask ask_always", "ask ask_always", "ask ask_always"],
    ["unlisted", "ask ask_unlisted", "allow agent_allow", "ask ask_unlisted"],
    ["tainted", "allow agent_allow", "allow agent_allow", "ask ask_tainted"],
    ["never", "allow agent_allow", "allow agent_allow", "allow agent_allow"],
  ] as const)("requires approvals in the mode %s", (mode, plain, listed, tainted) => {
    const verdict = (more: Partial<DecisionInput>) => {
      const input = { tool: { name: "exec", effects: "external" as const }, claims: [], facts: facts() };
      const { decision, rule } = decideByPolicy({ askModes: { exec: mode } }, { ...input, ...more });
      return `${decision} ${rule}`;
    };
    expect(verdict({})).toBe(plain);
    expect(verdict({ isCovered: true })).toBe(listed);
    expect(verdict({ facts: facts({ taint: [{ source: "web" }] }) })).toBe(tainted);
  });

  test("role, kind of conversation and parent run each narrow the policy", () => {
    const policy: ToolPolicy = {
      allow: ["*"],
      roles: { member: { deny: ["exec"] } },
      channelKinds: { group: { allow: ["read"] } },
    };
    expect(ask(policy, "exec")).toBe("deny role_deny:member");
    expect(ask(policy, "exec", { role: "owner" })).toBe("allow agent_allow");
    expect(ask(policy, "write", { channelKind: "group" })).toBe("deny channel_allow:group");
    expect(ask(policy, "write", { parentTools: ["read"] })).toBe("deny parent_allow");
  });

  test("guests may only read and list by default", () => {
    expect(ask({ allow: ["*"] }, "read", { role: "guest" })).toBe("allow agent_allow");
    for (const tool of ["write", "edit", "exec", "message"]) {
      expect(ask({ allow: ["*"] }, tool, { role: "guest" })).toBe("deny role_allow:guest");
    }
    expect(ask({ allow: ["*"], roles: { guest: { allow: ["write"] } } }, "write", { role: "guest" })).toBe(
      "allow agent_allow",
    );
  });
});

test.each<[Role, string]>([
  ["owner", "an owner"],
  ["member", "a member"],
  ["guest", "a guest"],
  ["system", "the gateway itself"],
])("a reason names the role %s", (role, words) => {
  const reasonFor = (rule: ToolPolicy): string =>
    decideByPolicy(rule, { tool: { name: "read", effects: "none" }, claims: [], facts: facts({ role }) })
      .reason;
  expect(reasonFor({})).toContain(` and ${words}.`);
  expect(reasonFor({ roles: { [role]: { deny: ["read"] } } })).toBe(`read is denied for ${words}.`);
});

describe("taint", () => {
  const taint: TaintMark[] = [{ source: "web", detail: "https://example.test/a" }];
  const kinds: ClaimKind[] = ["write_identity", "exec_network", "message_elsewhere", "schedule"];

  test.each(kinds)("%s needs an approval that names the source", (kind) => {
    const input = { tool: { name: "x", effects: "external" as const }, claims: [{ kind, detail: "d" }] };
    const decision = decideByPolicy({}, { ...input, facts: facts({ taint, role: "owner" }) });
    expect(decision).toMatchObject({ decision: "ask", rule: `taint_${kind}` });
    expect(decision.reason).toContain("web `https://example.test/a`");
    expect(decideByPolicy({}, { ...input, facts: facts({ role: "owner" }) }).decision).toBe("allow");
    expect(decideByPolicy({}, { ...input, facts: facts({ role: "guest" }) }).decision).toBe("deny");
  });

  test.each<[ClaimKind, Partial<Record<Role, string>>]>([
    ["message_elsewhere", { system: "allow agent_allow" }],
    ["write_identity", {}],
    ["exec_network", {}],
    ["schedule", {}],
    ["read_config", {}],
  ])("only owners may %s without approval", (kind, exceptions) => {
    const verdictFor = (role: Role) =>
      ask({ roles: { guest: {} } }, "message", { role }, [{ kind, detail: "slack C1" }]);
    expect(verdictFor("owner")).toBe("allow agent_allow");
    expect(verdictFor("member")).toBe(`ask member_${kind}`);
    expect(verdictFor("system")).toBe(exceptions.system ?? `ask system_${kind}`);
    expect(verdictFor("guest")).toBe(`deny guest_${kind}`);
  });
});

test("every change of the configuration needs approval, also for owners", () => {
  const claims = [{ kind: "configure", detail: "access.dm" } as const];
  const verdictFor = (role: Role) => ask({ roles: { guest: {} } }, "gateway", { role }, claims);
  expect((["owner", "member", "system", "guest"] as const).map(verdictFor)).toEqual([
    "ask configure",
    "ask configure",
    "ask configure",
    "deny guest_configure",
  ]);
});

test("narrower facts never lead to a more permissive decision", () => {
  const order = ["allow", "ask", "deny"];
  const roles = fc.constantFrom<Role>("owner", "member", "guest");
  const names = fc.array(fc.constantFrom("*", "read", "exec", "message", "group:fs"), { maxLength: 3 });
  const rule = fc.record({ allow: names, deny: names, ask: names }, { requiredKeys: [] });
  const kind = fc.constantFrom<ClaimKind>(
    "read_identity",
    "write_identity",
    "exec_network",
    "message_elsewhere",
    "schedule",
  );
  const claims = fc.array(fc.record({ kind, detail: fc.constant("d") }), { maxLength: 2 });
  fc.assert(
    fc.property(
      rule,
      fc.constantFrom("read", "exec", "message", "write"),
      claims,
      roles,
      (policy, tool, claims, role) => {
        const input = { tool: { name: tool, effects: "external" as const }, claims };
        const state = createRunState(facts({ role }));
        const before = decideByPolicy(policy, { ...input, facts: state.facts }).decision;
        state.taint({ source: "web" });
        const tainted = decideByPolicy(policy, { ...input, facts: state.facts }).decision;
        state.addSpeaker("guest", "b");
        const lowered = decideByPolicy(policy, { ...input, facts: state.facts }).decision;
        expect(order.indexOf(tainted)).toBeGreaterThanOrEqual(order.indexOf(before));
        expect(order.indexOf(lowered)).toBeGreaterThanOrEqual(order.indexOf(tainted));
      },
    ),
  );
});

test("the rights of a run only shrink", () => {
  const state = createRunState(facts({ role: "member", speaker: "a" }));
  state.addSpeaker("owner", "a");
  expect([state.facts.role, state.version]).toEqual(["member", 0]);
  state.addSpeaker("member", "b");
  state.addSpeaker("member", "a");
  expect([state.facts.speaker, state.version]).toEqual([undefined, 1]);
  state.taint({ source: "web", detail: "u" });
  state.taint({ source: "web", detail: "u" });
  state.addSpeaker("guest", "b");
  expect([state.facts.role, state.facts.taint.length, state.version]).toEqual(["guest", 1, 3]);
  expect(() => Object.assign(state.facts, { role: "owner" })).toThrow();
});

test.each([
  [{ allow: ["web_*"] }, ["web_fetch"]],
  [{ allow: ["profile:minimal", "exec"] }, ["read", "ls", "exec"]],
  [{ allow: ["profile:coding"], deny: ["group:web"] }, ["read", "ls", "exec"]],
  [{ allow: ["profile:none", "group:none"] }, []],
  [{ allow: ["group:read"] }, ["read", "ls"]],
  [{ allow: ["group:web", "exec"], deny: ["group:runtime"] }, ["web_fetch"]],
  [{ allow: ["*"], deny: ["web_*"] }, ["read", "ls", "exec"]],
  [{ allow: ["read"], ask: ["read"] }, ["read"]],
])("%j allows exactly %j, like the decision about a call", (rule, tools) => {
  const all = ["read", "ls", "exec", "web_fetch"];
  expect(all.filter((tool) => allowsTool(rule, tool))).toEqual(tools);
  expect(all.filter((tool) => !ask(rule, tool).startsWith("deny"))).toEqual(tools);
});

test("rules of each model that may answer narrow the policy, by model and by provider", () => {
  const policy: ToolPolicy = {
    models: { google: { deny: ["exec"] }, "openai/gpt-5.2": { allow: ["read"] } },
  };
  expect(ask(policy, "exec")).toBe("allow agent_allow");
  expect(ask(policy, "exec", { models: ["anthropic/claude-sonnet-4-6"] })).toBe("allow agent_allow");
  expect(ask(policy, "exec", { models: ["anthropic/claude-sonnet-4-6", "google/gemini"] })).toBe(
    "deny model_deny:google",
  );
  expect(ask(policy, "exec", { models: ["openai/gpt-5.2"] })).toBe("deny model_allow:openai/gpt-5.2");
  expect(ask(policy, "exec", { models: ["openai/gpt-5.2-mini"] })).toBe("allow agent_allow");
});
