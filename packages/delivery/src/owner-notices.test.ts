import { type Language, type Phrases, phrasesIn } from "@signalbox/phrases";
import { expect, it, onTestFinished } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createOwnerNotices } from "./owner-notices.ts";
import { createOutboxRow } from "./rows.ts";

/** Notices to an owner who can be reached through two accounts, and to one who cannot be reached. */
async function open(
  openDirect: (account: string, owner: string) => Promise<string>,
  language: Language = "en",
) {
  const { outbox, clock, lease, notes } = await openOutbox();
  const accounts = ["main", "second"].map((account) =>
    plainAccount({ openDirect: (owner: string) => openDirect(account, owner) }, { account }),
  );
  const woken: number[] = [];
  const hooks: { get?: () => undefined; notifies?: boolean } = {};
  const notices = createOwnerNotices({
    outbox,
    lease,
    clock,
    owners: () => ["plain:olga", "other:nobody"],
    logger: silentLogger,
    notes: { get: (...key) => hooks.get?.() ?? notes.get(...key), set: (...note) => notes.set(...note) },
    accounts: (channel) => (channel === "plain" ? accounts : []),
    getLastContact: async () => ({ account: "second", phrases: phrasesIn(language) }),
    wakeOutbox: () => woken.push(1),
    notifies: () => hooks.notifies ?? true,
  });
  onTestFinished(() => notices.stop());
  const add = async (text: string, notice: boolean, address = "room") => {
    const payload = { parts: [{ type: "text" as const, text }], notice };
    const destination = { channel: "plain", account: "main", address };
    const row = createOutboxRow(destination, payload, { expiresAt: 1e15, claim: true });
    const [added] = await outbox.enqueue([row], { lease });
    if (added === undefined) throw new Error("The outbox returned no row.");
    return added.id;
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
  /** Polls, and waits longer than the interval between notices. */
  const poll = async () => {
    notices.poll();
    await clock.advance(700_000);
  };
  return { outbox, lease, notes, hooks, notices, clock, add, give, told, woken, poll };
}

it("sends a notice without delay if an earlier poll found nothing", async () => {
  const { give, told, notices, clock } = await open(async (_, owner) => owner);
  notices.poll();
  await clock.advance(2_000);
  await give("hello", false);
  notices.poll();
  await clock.advance(2_000);
  expect(await told()).toHaveLength(1);
});

it("waits for the interval if more replies are given up while it sends", async () => {
  const { hooks, give, told, notices, clock } = await open(async (_, owner) => owner);
  await give("hello", false);
  notices.poll();
  hooks.get = () => {
    hooks.get = undefined;
    notices.poll();
  };
  await clock.advance(2_000);
  await give("another", false, "room2");
  await clock.advance(9 * 60_000);
  expect(await told()).toHaveLength(1);
  await clock.advance(60_000);
  expect(await told()).toHaveLength(2);
});

it("uses the owner's language", async () => {
  const { notices, give, told, poll } = await open(async (_, owner) => owner, "zh");
  await give("hello", false);
  notices.poll();
  await poll();
  expect((await told())[0]?.[2]).toMatch(
    /^1 条回复未送达：plain\/main 无法送达 1 条。用 `signalbox outbox list`/,
  );
});

it("notifies an owner once of given-up replies, without their content", async () => {
  const { notices, give, told, woken, poll } = await open(async (_, owner) => `direct:${owner}`);
  await give("the secret answer", false);
  await give("another", false, "room2");
  notices.poll();
  await poll();
  expect(woken).toHaveLength(1);
  const text =
    "2 replies were not delivered: 2 dead on plain/main. `signalbox outbox list` shows which and why.";
  expect(await told()).toEqual([["second", "direct:olga", text]]);
  // Counts only later replies, and never notices.
  await give("a word about it", true, "room3");
  await give("a third", false, "room4");
  await poll();
  expect((await told())[1]?.[2]).toMatch(/^A reply was not delivered: 1 dead/);
});

it("sends nothing if only notices were given up", async () => {
  const { give, told, poll } = await open(async (_, owner) => `direct:${owner}`);
  await give("a word about it", true);
  await poll();
  expect(await told()).toEqual([]);
});

it("finds an old reply that is given up late behind a thousand notices", async () => {
  const { outbox, lease, clock, add, give, told, woken, poll } = await open(
    async (_, owner) => `direct:${owner}`,
  );
  const old = await add("the answer", false, "early");
  for (let n = 0; n < 1_001; n++) await give("a word", true, `room${n}`);
  await poll();
  expect([woken.length, await told()]).toEqual([1, []]);
  await clock.advance(1);
  await outbox.dead(old, lease, "gone");
  await poll();
  expect((await told())[0]?.[2]).toMatch(/^A reply was not delivered: 1 dead/);
});

it("counts up to 10,000 replies, and ignores a stored position in the future", async () => {
  const { notes, give, told, poll, clock } = await open(async (_, owner) => `direct:${owner}`);
  for (let n = 0; n < 1_500; n++) await give("x", false, `room${n}`);
  await notes.set("undelivered", "told", { at: clock.now() * 2 });
  await poll();
  expect((await told())[0]?.[2]).toMatch(/^1500 replies were not delivered: 1500 dead on plain\/main/);
  await give("one more", false, "another room");
  await poll();
  expect((await told())[1]?.[2]).toMatch(/^A reply was/);
});

it("retries if no owner can be reached, first through the account that the owner wrote to last", async () => {
  let away = true;
  const asked: string[] = [];
  const { give, told, poll } = await open(async (account, owner) => {
    asked.push(account);
    if (away) throw new Error("the platform is away");
    return `direct:${owner}`;
  });
  await give("the answer", false);
  await poll();
  expect(asked.slice(0, 2)).toEqual(["second", "main"]);
  expect(await told()).toEqual([]);
  away = false;
  await poll();
  expect((await told()).map(([account]) => account)).toEqual(["second"]);
});

it("sends a notice that was not delivered through another account, and then to nobody", async () => {
  const { give, told, poll, notices, outbox, lease, clock } = await open(
    async (_, owner) => `direct:${owner}`,
  );
  await give("the answer", false);
  await poll();
  for (const account of ["second", "main"]) {
    expect((await told()).map(([by, to]) => [by, to])).toEqual([[account, "direct:olga"]]);
    const [row] = (await outbox.claimDue({ lease, limit: 9 })).rows;
    if (row === undefined) throw new Error("There is no notice to send.");
    await outbox.dead(row.id, lease, "blocked");
    notices.undelivered(row);
    await clock.advance(0);
  }
  expect(await told()).toEqual([]);
});

it("names the messages of the replies, so that they count as reported once it is sent", async () => {
  const { give, poll, outbox, lease } = await open(async (_, owner) => `direct:${owner}`);
  await give("the answer", false);
  await poll();
  const [row] = (await outbox.claimDue({ lease, limit: 9 })).rows;
  expect(row?.payload.ownerNotice).toMatchObject({ owner: "plain:olga", tried: [] });
});

it("sends a text of the host to each owner once, in their language", async () => {
  const { notices, told } = await open(async (_, owner) => `direct:${owner}`, "zh");
  const text = ({ paired }: Phrases) => paired;
  expect(await notices.send(text, "news 1")).toBe(true);
  expect(await notices.send(text, "news 1")).toBe(true);
  expect(await told()).toEqual([["second", "direct:olga", phrasesIn("zh").paired]]);
});

it("returns false if no owner can be reached", async () => {
  const { notices, told } = await open(() => Promise.reject(new Error("blocked")));
  expect(await notices.send(() => "news", "news 1")).toBe(false);
  expect(await told()).toEqual([]);
});

it("leaves given-up replies to another process while that one notifies owners", async () => {
  const { give, told, poll, hooks } = await open(async (_, owner) => owner);
  hooks.notifies = false;
  await give("hello", false);
  await poll();
  expect(await told()).toEqual([]);
  hooks.notifies = true;
  await poll();
  expect(await told()).toHaveLength(1);
});
