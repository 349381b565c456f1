import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answered, begun, seed, takeLease, temporaryFolder, testStore } from "./support.ts";

const CODE = "The alarm code of the office is 7730.";

const said = (text: string) => ({ role: "user", content: text });
/** A call whose arguments are JSON inside JSON. */
const noted = (text: string) => ({
  role: "assistant",
  content: [
    { type: "toolCall", name: "memory_write", argsText: JSON.stringify({ text: `"Note"\n${text}` }) },
  ],
});

test("erases a text from a session's messages, calls, contexts, replies and title, and from the file", async () => {
  const path = join(temporaryFolder(), "store.db");
  const { store } = await testStore({ path });
  const lease = await takeLease(store);
  await answered(store, lease, CODE, "a");
  await answered(store, lease, `b: ${CODE}`, "b");
  await store.sessions.append("a", [said(`${CODE} Remember it.`), noted(CODE)], lease);
  await store.sessions.patch("a", { title: `${CODE.slice(0, 20)}…` });
  const context = { seq: 1, text: CODE, told: [], recalled: `- ${CODE}`, forOwner: false };
  await store.contexts.put("a", [context]);

  const erased = await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [`- ${CODE}`] });
  expect(erased).toBeGreaterThanOrEqual(7);
  const [call, message] = await store.sessions.transcript("a");
  expect(message?.message).toEqual(said("[forgotten] Remember it."));
  expect(call?.message).toEqual(noted("[forgotten]"));
  const left = [
    await store.sessions.transcript("a"),
    await store.sessions.get("a"),
    await store.contexts.from("a", 1),
    await store.inbox.list({ sessionKey: "a", limit: 10 }),
  ];
  expect(JSON.stringify(left)).not.toMatch(/7730|alarm code/);
  expect(JSON.stringify(await store.sessions.transcript("b"))).toContain("7730");

  await store.maintenance.erase({ sessions: ["b"], messages: [], texts: [CODE] });
  for (const end of ["", "-wal"]) expect(readFileSync(`${path}${end}`).includes("7730"), end).toBe(false);
});

test("erases texts from traces, also from those that are not written yet", async () => {
  const { store } = await testStore();
  void store.traces.append("om-1", [{ stage: "run", at: 1, data: { summary: CODE } }]);
  await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [CODE] });
  expect(JSON.stringify(await store.traces.read("om-1"))).toMatch(/forgotten/);
  expect(JSON.stringify(await store.traces.read("om-1"))).not.toContain("7730");
});

test("erases texts while a run goes on, which can be finished", async () => {
  const { store } = await testStore();
  const lease = await takeLease(store);
  const { run, inboxIds } = await begun(store, lease, [CODE], "a");
  await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [CODE] });
  await store.runs.finish({
    runId: run.id,
    lease,
    outcome: "completed",
    inbox: inboxIds.map((id) => ({ id, state: "replied" })),
    messages: [{ role: "assistant", content: "Forgotten." }],
    outbox: [],
    usage: { modelCalls: 1, inputTokens: 1, outputTokens: 1, costMicros: 1 },
  });
  const messages = (await store.sessions.transcript("a")).map((row) => row.message);
  expect(messages).toEqual([{ role: "assistant", content: "Forgotten." }, said("[forgotten]")]);
});

test("erases a short text only as a whole message", async () => {
  const { store } = await testStore();
  const lease = await takeLease(store);
  await store.sessions.ensure(seed("a"));
  await store.sessions.append("a", [said("yes"), said("yesterday, yes"), said("密码是四四一一。")], lease);
  await store.maintenance.erase({
    sessions: ["a"],
    messages: [{ sessionKey: "a", seq: 1 }],
    texts: ["yes", "密码是四四一一。"],
  });
  const messages = (await store.sessions.transcript("a")).map((row) => row.message).reverse();
  expect(messages).toEqual([said("[forgotten]"), said("yesterday, yes"), said("[forgotten]")]);
});
