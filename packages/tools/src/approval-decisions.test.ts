import { expect, it } from "vitest";
import { createTestApprovals } from "../test/approval-store.ts";
import { memoryKeyValues } from "../test/key-values.ts";
import { type ApprovalsOptions, createApprovals } from "./approvals.ts";
import { createAllowRules } from "./persistence/allow-rules.ts";

const REQUEST = {
  tool: "exec",
  subject: { action: "ls -l", rules: [["ls", "*"]] },
  agentId: "main",
  sessionKey: "s",
  reason: "why",
  taint: [],
};

function open(options: Partial<ApprovalsOptions> = {}) {
  const allowRules = createAllowRules(memoryKeyValues(), () => []);
  const decided: string[] = [];
  const prompted: string[] = [];
  const approvals = createApprovals({
    store: createTestApprovals(),
    allowRules,
    prompt: async ({ id }) => void prompted.push(id),
    onDecided: (_approval, approver) => void decided.push(approver),
    ...options,
  });
  return { approvals, allowRules, decided, prompted };
}

it("stores an allow rule for `allow-always`, and none for `allow`", async () => {
  const { approvals, allowRules, decided } = open();
  const once = await approvals.request(REQUEST);
  expect(await approvals.resolve(once.id, "allow", "plain:anna")).toMatchObject({ ok: true });
  expect(await allowRules.get("main")).toEqual([]);
  const always = await approvals.request({ ...REQUEST, sessionKey: "s2" });
  await approvals.resolve(always.id, "allow-always", "plain:anna");
  expect(await allowRules.get("main")).toEqual([["ls", "*"]]);
  expect(decided).toEqual(["plain:anna", "plain:anna"]);
});

it("stores nothing for an unknown approval or a denial", async () => {
  const { approvals, allowRules, decided } = open();
  expect(await approvals.resolve("NOBODY22", "allow-always", "plain:ben")).toMatchObject({ ok: false });
  const { id } = await approvals.request(REQUEST);
  await approvals.resolve(id, "deny", "plain:anna");
  expect(await allowRules.get("main")).toEqual([]);
  expect(decided).toEqual(["plain:anna"]);
});

it("reports a decision even if its allow rule cannot be stored", async () => {
  const { approvals, decided } = open({
    allowRules: { add: () => Promise.reject(new Error("the disk is full")) },
  });
  const { id } = await approvals.request(REQUEST);
  await expect(approvals.resolve(id, "allow-always", "plain:anna")).rejects.toThrow("the disk is full");
  expect(decided).toEqual(["plain:anna"]);
});

it("prompts once for identical requests, and not at all after it was closed", async () => {
  const { approvals, prompted } = open();
  const [first, second] = [await approvals.request(REQUEST), await approvals.request(REQUEST)];
  expect([second.id, prompted]).toEqual([first.id, [first.id]]);
  approvals.close(new Error("shutdown"));
  await approvals.request({ ...REQUEST, sessionKey: "s2" });
  expect(prompted).toEqual([first.id]);
  await expect(approvals.closed).rejects.toThrow("shutdown");
});
