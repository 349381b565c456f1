import { expect, test } from "vitest";
import { createTestApprovals } from "../test/approval-store.ts";
import type { ApprovalRequest } from "./approval-store.ts";
import { createApprovals, expireApprovals } from "./approvals.ts";

const REQUEST: ApprovalRequest = {
  tool: "exec",
  subject: { action: "rm -rf build && make", cwd: "/srv/w", env: { PATH: "/bin" }, binary: "/usr/bin/bash" },
  agentId: "coder",
  sessionKey: "s1",
  reason: "why",
  taint: [],
};

function setup() {
  let time = 1_000;
  const store = createTestApprovals();
  const approvals = createApprovals({ store, now: () => time, ttlMs: 100 });
  return { approvals, store, pass: (ms: number) => (time += ms) };
}

test("an approval covers exactly the shown call, once", async () => {
  const { approvals } = setup();
  const { id } = await approvals.request(REQUEST);
  expect(id).toMatch(/^[2-9A-HJ-NP-Z]{8}$/);
  expect(await approvals.take(REQUEST)).toBeUndefined();
  expect(await approvals.resolve(id, "allow", "feishu:ou_owner")).toMatchObject({ ok: true });
  expect(await approvals.take(REQUEST)).toMatchObject({ id, approver: "feishu:ou_owner", state: "used" });
  expect(await approvals.take(REQUEST)).toBeUndefined();
});

const { subject } = REQUEST;
test.each<[string, ApprovalRequest]>([
  ["script", { ...REQUEST, subject: { ...subject, action: "rm -rf build && make " } }],
  ["folder", { ...REQUEST, subject: { ...subject, cwd: "/srv/w/x" } }],
  ["environment", { ...REQUEST, subject: { ...subject, env: { PATH: "/tmp:/bin" } } }],
  ["program", { ...REQUEST, subject: { ...subject, binary: "/usr/bin/dash" } }],
  ["tool", { ...REQUEST, tool: "message" }],
  ["session", { ...REQUEST, sessionKey: "s2" }],
  ["agent", { ...REQUEST, agentId: "other" }],
])("an approval does not cover another %s", async (_what, other) => {
  const { approvals } = setup();
  const { id } = await approvals.request(REQUEST);
  await approvals.resolve(id, "allow", "owner");
  expect(await approvals.take(other)).toBeUndefined();
  expect(await approvals.take(REQUEST)).toBeDefined();
});

test("a denied request does not permit the call, and cannot be decided again", async () => {
  const { approvals } = setup();
  const { id } = await approvals.request(REQUEST);
  await approvals.resolve(id, "deny", "owner");
  expect(await approvals.take(REQUEST)).toBeUndefined();
  expect(await approvals.resolve(id, "allow", "owner")).toMatchObject({ ok: false, code: "decided" });
  expect(await approvals.resolve("NONE", "allow", "owner")).toMatchObject({ ok: false, code: "unknown" });
});

test("requests and decisions expire", async () => {
  const { approvals, pass } = setup();
  const first = await approvals.request(REQUEST);
  pass(100);
  expect(await approvals.resolve(first.id, "allow", "owner")).toMatchObject({ ok: false, code: "expired" });
  const second = await approvals.request(REQUEST);
  await approvals.resolve(second.id, "allow", "owner");
  pass(100);
  expect(await approvals.take(REQUEST)).toBeUndefined();
  expect((await approvals.list()).map(({ state }) => state)).toEqual(["expired", "expired"]);
});

test("reports an expired request once, even if no call waits for it", async () => {
  const expired: string[] = [];
  const store = createTestApprovals();
  const approvals = createApprovals({ store, ttlMs: 2_000, onExpired: ({ id }) => void expired.push(id) });
  const undecided = await approvals.request(REQUEST);
  const unused = await approvals.request({ ...REQUEST, sessionKey: "s2" });
  await approvals.resolve(unused.id, "allow", "owner");
  await expect.poll(() => expired).toEqual([undecided.id]);
  const states = async () => (await approvals.list()).map(({ state }) => state);
  await expect.poll(states).toEqual(["expired", "expired"]);
  expect(expired).toEqual([undecided.id]);
});

test("a restart expires requests and decisions, and keeps their history", async () => {
  const { approvals, store } = setup();
  const { id } = await approvals.request(REQUEST);
  await approvals.resolve(id, "allow", "feishu:ou_owner");
  const undecided = await approvals.request({ ...REQUEST, sessionKey: "s2" });
  expect((await expireApprovals(store)).map((each) => each.id)).toEqual([undecided.id]);
  const restarted = createApprovals({ store, now: () => 1_001 });
  expect(await restarted.take(REQUEST)).toBeUndefined();
  expect(await restarted.list()).toMatchObject([
    { sessionKey: "s2", state: "expired" },
    { id, state: "expired", approver: "feishu:ou_owner", decidedAt: 1_000, subject: REQUEST.subject },
  ]);
  expect((await restarted.request(REQUEST)).id).not.toBe(id);
});

test("only the call that used an approval gets it again after a restart", async () => {
  const { approvals, store } = setup();
  const call = { runId: "r1", callId: "c1" };
  const { id } = await approvals.request(REQUEST);
  await approvals.resolve(id, "allow", "owner");
  expect(await approvals.take(REQUEST, call)).toMatchObject({ id });
  expect(await approvals.take(REQUEST, call)).toBeUndefined();
  await expireApprovals(store);
  const restart = (now = 1_001) => createApprovals({ store, now: () => now });
  expect(await restart().take(REQUEST)).toBeUndefined();
  expect(await restart().take(REQUEST, { ...call, callId: "c2" })).toBeUndefined();
  expect(await restart().take(REQUEST, { ...call, runId: "r2" })).toBeUndefined();
  expect(await restart().take({ ...REQUEST, subject: { action: "other" } }, call)).toBeUndefined();
  const restarted = restart();
  expect(await restarted.take(REQUEST, call)).toMatchObject({ id, state: "used" });
  expect(await restarted.take(REQUEST, call)).toBeUndefined();
  expect(await restart(1_100).take(REQUEST, call)).toBeUndefined();
});

test("an approval that was used without a call is not available to any call after a restart", async () => {
  const { approvals, store } = setup();
  const { id } = await approvals.request(REQUEST);
  await approvals.resolve(id, "allow", "owner");
  await approvals.take(REQUEST);
  const restarted = createApprovals({ store, now: () => 1_001 });
  expect(await restarted.take(REQUEST, { runId: "r1", callId: "c1" })).toBeUndefined();
});

test("concurrent identical requests share one approval", async () => {
  const { approvals } = setup();
  const asked = await Promise.all([approvals.request(REQUEST), approvals.request(REQUEST)]);
  expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
});

test("prompts once for a pending request, and limits the pending requests of a session", async () => {
  const { approvals } = setup();
  const one = await approvals.request(REQUEST);
  expect((await approvals.request({ ...REQUEST })).id).toBe(one.id);
  for (let i = 1; i < 5; i++) await approvals.request({ ...REQUEST, subject: { action: `${i}` } });
  await expect(approvals.request({ ...REQUEST, subject: { action: "6" } })).rejects.toThrow(
    "already has 5 pending",
  );
  await approvals.request({ ...REQUEST, sessionKey: "s2" });
});

test("a waiting call gets the decision", async () => {
  const { approvals } = setup();
  const { id } = await approvals.request(REQUEST);
  const waiting = approvals.wait(id, new AbortController().signal);
  await approvals.resolve(id, "allow", "owner");
  expect(await waiting).toBe("allowed");
  expect(await approvals.wait("NONE", new AbortController().signal)).toBe("expired");
  const other = await approvals.request({ ...REQUEST, subject: { action: "x" } });
  const abort = new AbortController();
  const ended = approvals.wait(other.id, abort.signal);
  abort.abort();
  expect(await ended).toBe("expired");
});

test("a start expires only the requests of runs that it executes", async () => {
  const { approvals, store } = setup();
  const own = await approvals.request(REQUEST);
  const decided = await approvals.request({ ...REQUEST, tool: "message" });
  await approvals.resolve(decided.id, "allow", "owner");
  const neighbors = await approvals.request({ ...REQUEST, agentId: "other", sessionKey: "s2" });
  const undecided = await expireApprovals(store, ({ agentId }) => agentId === "coder");
  expect(undecided.map(({ id }) => id)).toEqual([own.id]);
  expect((await store.get(decided.id))?.state).toBe("expired");
  expect((await store.get(neighbors.id))?.state).toBe("pending");
});
