import { expect, test } from "vitest";
import { explainUse, proveReach } from "./explain.ts";
import type { RunFacts } from "./types.ts";

const MEMBER: RunFacts = {
  agentId: "coder",
  sessionKey: "s",
  role: "member",
  channelKind: "direct",
  taint: [],
};

test("a use is explained by its rule, with each thing that the tool may reach for", () => {
  const rules = (tool: string, facts: Partial<RunFacts> = {}) =>
    explainUse({ allow: ["write", "message"] }, { ...MEMBER, ...facts }, tool).map(
      ({ reachesFor, decision }) => `${reachesFor ?? "plain"}: ${decision.decision} ${decision.rule}`,
    );
  expect(rules("write")).toEqual(["plain: allow agent.allow", "write-identity: ask member.write-identity"]);
  expect(rules("exec")).toEqual(["plain: deny agent.allow"]);
  expect(rules("message", { role: "owner" })).toEqual([
    "plain: allow agent.allow",
    "message-elsewhere: allow agent.allow",
  ]);
  expect(rules("message", { role: "guest" })).toEqual(["plain: deny role.guest.allow"]);
});

test("nobody untrusted reaches what acts, unless the policy says so, and then it is found", () => {
  const { tried, reached } = proveReach({ allow: ["*"] });
  expect(tried).toBeGreaterThan(150);
  expect(reached).toEqual([]);
  const open = proveReach({ allow: ["*"], roles: { guest: { allow: ["read", "exec", "message"] } } });
  expect(new Set(open.reached.map(({ tool, role }) => `${role} ${tool}`))).toEqual(new Set(["guest exec"]));
  expect(proveReach({ allow: ["read"], roles: { guest: {} } }).reached).toEqual([]);
});
