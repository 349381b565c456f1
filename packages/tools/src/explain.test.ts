import { expect, test } from "vitest";
import { checkPolicy, explainUse } from "./explain.ts";
import type { RunFacts } from "./types.ts";

const MEMBER: RunFacts = {
  agentId: "coder",
  sessionKey: "s",
  role: "member",
  channelKind: "direct",
  taint: [],
};

test("explains the decision about a tool, and about each claim that it can have", () => {
  const rules = (tool: string, facts: Partial<RunFacts> = {}) =>
    explainUse({ allow: ["write", "message"] }, { ...MEMBER, ...facts }, tool).map(
      ({ claim, decision }) => `${claim ?? "plain"}: ${decision.decision} ${decision.rule}`,
    );
  expect(rules("write")).toEqual(["plain: allow agent_allow", "write_identity: ask member_write_identity"]);
  expect(rules("exec")).toEqual(["plain: deny agent_allow"]);
  expect(rules("message", { role: "owner" })).toEqual([
    "plain: allow agent_allow",
    "message_elsewhere: allow agent_allow",
  ]);
  expect(rules("message", { role: "guest" })).toEqual(["plain: deny role_allow:guest"]);
});

test("finds calls that a policy allows to guests and tainted runs", () => {
  const { checked, unsafe } = checkPolicy({ allow: ["*"] });
  expect(checked).toBeGreaterThan(150);
  expect(unsafe).toEqual([]);
  const open = checkPolicy({ allow: ["*"], roles: { guest: { allow: ["read", "exec", "message"] } } });
  expect(new Set(open.unsafe.map(({ tool, role }) => `${role} ${tool}`))).toEqual(new Set(["guest exec"]));
  expect(checkPolicy({ allow: ["read"], roles: { guest: {} } }).unsafe).toEqual([]);
});
