import { expect, it } from "vitest";
import { memoryKeyValues } from "../test/key-values.ts";
import { createMemoryApprovalStore } from "./approval-store.ts";
import { createApprovals } from "./approvals.ts";
import { createDecisions, createStandingRules } from "./index.ts";
import { createQuestions, type Questions } from "./questions.ts";

const REQUEST = {
  tool: "exec",
  subject: { action: "ls -l", rules: [["ls", "*"]] },
  agentId: "main",
  sessionKey: "s",
  reason: "why",
  taint: [],
};

function decisions() {
  const rules = createStandingRules(memoryKeyValues(), () => []);
  const decided: string[] = [];
  const questions = createQuestions(createApprovals({ store: createMemoryApprovalStore() }), async () => {});
  const onDecided = (_: unknown, approver: string): void => void decided.push(approver);
  return { ...createDecisions(questions, { rules, onDecided }), rules, decided };
}

it("lets the same command run unasked from now on where that was allowed for always, and only there", async () => {
  const { request, resolve, rules, decided } = decisions();
  const once = await request(REQUEST);
  expect(await resolve(once.id, "allow", "plain:anna")).toMatchObject({ ok: true });
  expect(await rules.of("main")).toEqual([]);
  const always = await request({ ...REQUEST, sessionKey: "s2" });
  await resolve(always.id, "allow-always", "plain:anna");
  expect(await rules.of("main")).toEqual([["ls", "*"]]);
  expect(decided).toEqual(["plain:anna", "plain:anna"]);
});

it("passes the rest on to questions whose methods are those of their class", async () => {
  const questions = createQuestions(createApprovals({ store: createMemoryApprovalStore() }), async () => {});
  const inheriting: Questions = Object.create(questions);
  const rules = createStandingRules(memoryKeyValues(), () => []);
  const { request, list } = createDecisions(inheriting, { rules, onDecided: () => {} });
  const asked = await request(REQUEST);
  expect(await list()).toEqual([asked]);
});

it("keeps nothing of a decision that does not count, nor of a refusal", async () => {
  const { request, resolve, rules, decided } = decisions();
  expect(await resolve("NOBODY22", "allow-always", "plain:ben")).toMatchObject({ ok: false });
  const { id } = await request(REQUEST);
  await resolve(id, "deny", "plain:anna");
  expect(await rules.of("main")).toEqual([]);
  expect(decided).toEqual(["plain:anna"]);
});

it("is on record also where no standing rule could be kept: the call goes ahead all the same", async () => {
  const decided: string[] = [];
  const questions = createQuestions(createApprovals({ store: createMemoryApprovalStore() }), async () => {});
  const { request, resolve } = createDecisions(questions, {
    rules: { add: () => Promise.reject(new Error("the disk is full")) },
    onDecided: (_, approver) => void decided.push(approver),
  });
  const { id } = await request(REQUEST);
  await expect(resolve(id, "allow-always", "plain:anna")).rejects.toThrow("the disk is full");
  expect(decided).toEqual(["plain:anna"]);
});
