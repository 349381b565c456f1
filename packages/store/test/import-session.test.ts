import { expect, it } from "vitest";
import type { ImportedSession } from "../src/index.ts";
import { seed, takeLease, testStore } from "./support.ts";

const message = (text: string, at: number) => ({ message: { role: "user", content: text }, at });

/** A session with two generations. A summary replaces the first message of the last one. */
function imported(): ImportedSession {
  return {
    seed: { ...seed(), title: "Old" },
    createdAt: 10,
    updatedAt: 60,
    model: "a/b",
    data: { taint: 1 },
    generations: [
      { startedAt: 10, entries: [message("one", 10), message("two", 20)] },
      {
        startedAt: 30,
        entries: [
          message("three", 30),
          { message: { role: "summary" }, at: 40, replaces: 1 },
          message("four", 50),
          message("five", 60),
        ],
      },
    ],
  };
}

const texts = (messages: readonly { readonly message: unknown; readonly at: number }[]) =>
  messages.map(({ message, at }) => [at, (message as { content?: string }).content ?? "summary"]);

it("creates a session with generations, a summary and times, and continues it", async () => {
  const { store } = await testStore();
  expect(await store.admin.importSession(imported())).toEqual({ outcome: "imported", lastSeq: 6 });
  expect(await store.sessions.get(seed().key)).toMatchObject({
    title: "Old",
    model: "a/b",
    data: { taint: 1 },
    generation: 1,
    createdAt: 10,
    updatedAt: 60,
    resetAt: 30,
    lastSeq: 6,
    messageCount: 3,
  });
  expect(texts(await store.sessions.history(seed().key))).toEqual([
    [40, "summary"],
    [50, "four"],
    [60, "five"],
  ]);
  const transcript = await store.sessions.transcript(seed().key);
  expect(transcript.map(({ generation }) => generation)).toEqual([1, 1, 1, 1, 0, 0]);
  expect(texts(transcript).at(-1)).toEqual([10, "one"]);
  const lease = await takeLease(store);
  await store.sessions.append(seed().key, [{ role: "user", content: "new" }], lease);
  expect((await store.sessions.history(seed().key)).map(({ seq }) => seq)).toEqual([4, 5, 6, 7]);
  expect(await store.sessions.get(seed().key)).toMatchObject({ messageCount: 4, lastSeq: 7 });
});

it("replaces a session only if nobody wrote in it since the last import", async () => {
  const { store } = await testStore();
  await store.admin.importSession(imported());
  expect(await store.admin.importSession(imported())).toEqual({ outcome: "exists" });
  expect(await store.admin.importSession(imported(), 5)).toEqual({ outcome: "exists" });
  expect(await store.admin.importSession(imported(), 6)).toEqual({ outcome: "imported", lastSeq: 6 });
  expect(await store.sessions.history(seed().key)).toHaveLength(3);
});

it("writes nothing if a message cannot be stored", async () => {
  const { store } = await testStore();
  const broken = { ...imported(), generations: [{ startedAt: 1, entries: [{ message: 1n, at: 1 }] }] };
  await expect(store.admin.importSession(broken)).rejects.toMatchObject({ code: "invalid" });
  expect(await store.sessions.get(seed().key)).toBeUndefined();
});

it("compacts and resets an imported session like any other", async () => {
  const { store } = await testStore();
  await store.admin.importSession(imported());
  const lease = await takeLease(store);
  await store.sessions.compact(seed().key, { summary: { role: "summary" }, upTo: 5, lease });
  expect(texts(await store.sessions.history(seed().key)).map(([, text]) => text)).toEqual([
    "summary",
    "five",
  ]);
  expect(await store.sessions.reset(seed().key, lease)).toMatchObject({ generation: 2, messageCount: 0 });
});
