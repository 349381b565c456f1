import type { Json } from "@signalbox/channel";
import { type Language, phrasesIn } from "@signalbox/phrases";
import { expect, it, onTestFinished, vi } from "vitest";
import { manualClock } from "../test/manual-clock.ts";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createOwnerNotices } from "./owner-notices.ts";
import { outboxRow } from "./rows.ts";
import { createMemoryOutbox } from "./testkit/memory-outbox.ts";

const lease = { name: "gateway", epoch: 1 };

/** Owners of two accounts. */
function open(openDirect: (account: string, owner: string) => Promise<string>, language: Language = "en") {
  const clock = manualClock();
  const outbox = createMemoryOutbox(clock);
  const notes = new Map<string, Json>();
  const accounts = ["main", "second"].map((account) =>
    plainAccount({ openDirect: (owner: string) => openDirect(account, owner) }, { account }),
  );
  const woken: number[] = [];
  const notices = createOwnerNotices({
    outbox,
    lease,
    clock,
    owners: () => ["plain:olga", "other:nobody"],
    logger: silentLogger,
    notes: {
      get: async (_, key) => notes.get(key),
      async set(_, key, value) {
        notes.set(key, value);
      },
    },
    accounts: (channel) => (channel === "plain" ? accounts : []),
    lastHeardOf: async () => ({ account: "second", phrases: phrasesIn(language) }),
    wakeOutbox: () => woken.push(1),
  });
  onTestFinished(() => notices.stop());
  const add = async (text: string, notice: boolean, address = "room") => {
    const payload = { parts: [{ type: "text" as const, text }], ...(notice ? { notice } : {}) };
    const destination = { channel: "plain", account: "main", address };
    const row = outboxRow(destination, payload, { expiresAt: 1e15, claim: true });
    const [added] = await outbox.enqueue([row], { lease });
    return added?.id ?? "";
  };
  const give = async (...what: Parameters<typeof add>) => {
    await clock.advance(1);
    await outbox.dead(await add(...what), lease, "gone");
  };
  const told = async () =>
    (await outbox.list({ states: ["pending"] }))
      .toReversed()
      .map(({ account, address, payload: { parts } }) => [
        account,
        address,
        parts[0]?.type === "text" ? parts[0].text : "",
      ]);
  /** Longer than notices are apart. */
  const look = async () => {
    notices.look();
    await clock.advance(700_000);
  };
  return { outbox, notes, notices, clock, add, give, told, woken, look };
}

it("does not put a notice off because there was nothing to tell before", async () => {
  const { give, told, notices, clock } = open(async (_, owner) => owner);
  notices.look();
  await clock.advance(2_000);
  await give("hello", false);
  notices.look();
  await clock.advance(2_000);
  expect(await told()).toHaveLength(1);
});

it("keeps its distance where more is given up while it writes", async () => {
  const { notes, give, told, notices, clock } = open(async (_, owner) => owner);
  await give("hello", false);
  notices.look();
  vi.spyOn(notes, "get").mockImplementationOnce(() => void notices.look());
  await clock.advance(2_000);
  await give("another", false, "room2");
  await clock.advance(9 * 60_000);
  expect(await told()).toHaveLength(1);
  await clock.advance(60_000);
  expect(await told()).toHaveLength(2);
});

it("speaks an owner's language", async () => {
  const { notices, give, told, look } = open(async (_, owner) => owner, "zh");
  await give("hello", false);
  notices.look();
  await look();
  expect((await told())[0]?.[2]).toMatch(
    /^1 条回复没有送达：plain\/main 无法送达 1 条。用 `signalbox outbox list`/,
  );
});

it("tells an owner once of what was given up, and nothing of what it said", async () => {
  const { notices, give, told, woken, look } = open(async (_, owner) => `direct:${owner}`);
  await give("the secret answer", false);
  await give("another", false, "room2");
  notices.look();
  await look();
  expect(woken).toHaveLength(1);
  const text =
    "2 replies were not delivered: 2 dead on plain/main. `signalbox outbox list` shows which and why.";
  expect(await told()).toEqual([["second", "direct:olga", text]]);
  // Only what came since, and never of its own words.
  await give("a word about it", true, "room3");
  await give("a third", false, "room4");
  await look();
  expect((await told())[1]?.[2]).toMatch(/^A reply was not delivered: 1 dead/);
});

it("says nothing where only its own words were given up", async () => {
  const { give, told, look } = open(async (_, owner) => `direct:${owner}`);
  await give("a word about it", true);
  await look();
  expect(await told()).toEqual([]);
});

it("tells of an old reply that is given up late, behind any number of words of its own", async () => {
  const { outbox, clock, add, give, told, woken, look } = open(async (_, owner) => `direct:${owner}`);
  const old = await add("the answer", false, "early");
  for (let n = 0; n < 1_001; n++) await give("a word", true, `room${n}`);
  await look();
  expect([woken.length, await told()]).toEqual([1, []]);
  await clock.advance(1);
  await outbox.dead(old, lease, "gone");
  await look();
  expect((await told())[0]?.[2]).toMatch(/^A reply was not delivered: 1 dead/);
});

it("counts exactly what it can, believes no clock that was ahead, and goes on behind it", async () => {
  const { notes, give, told, look, clock } = open(async (_, owner) => `direct:${owner}`);
  for (let n = 0; n < 1_500; n++) await give("x", false, `room${n}`);
  notes.set("told", { at: clock.now() * 2 });
  await look();
  expect((await told())[0]?.[2]).toMatch(/^1500 replies were not delivered: 1500 dead on plain\/main/);
  await give("one more", false, "another room");
  await look();
  expect((await told())[1]?.[2]).toMatch(/^A reply was/);
});

it("tries again where nobody can be reached, and first the account the owner last wrote to", async () => {
  let away = true;
  const asked: string[] = [];
  const { give, told, look } = open(async (account, owner) => {
    asked.push(account);
    if (away) throw new Error("the platform is away");
    return `direct:${owner}`;
  });
  await give("the answer", false);
  await look();
  expect(asked.slice(0, 2)).toEqual(["second", "main"]);
  expect(await told()).toEqual([]);
  away = false;
  await look();
  expect((await told()).map(([account]) => account)).toEqual(["second"]);
});
