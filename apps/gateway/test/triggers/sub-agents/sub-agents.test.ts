import { describe, expect, it } from "vitest";
import { SubAgentError } from "../../../src/triggers/sub-agents/limits.ts";
import type { SubAgents } from "../../../src/triggers/sub-agents/sub-agents.ts";
import { giver, LIMITS, newDisk, openProcess } from "./world.ts";

const WORK = { label: "look", text: "Look it up.", tools: ["read"] };
const DONE = { outcome: "done", text: "It is there.", gained: "web" } as const;

async function open(disk = newDisk(), how = {}) {
  const process = openProcess(disk, how);
  await process.subAgents.start(process.host);
  return { ...process, disk };
}

/** Everything that was asked of it is done. */
async function settled(subAgents: SubAgents<string, string>): Promise<void> {
  await subAgents.recover();
}

describe("a sub-agent", () => {
  it("is given its task in a session of its own, and its parent is told the end once", async () => {
    const { subAgents, disk } = await open();
    const { id, sessionKey, depth, tools } = await subAgents.spawn(WORK, giver("c1"));
    expect({ sessionKey, depth, tools }).toEqual({ sessionKey: `coder/${id}`, depth: 1, tools: ["read"] });
    const name = `task:${id}:c1`;
    expect([...disk.messages]).toEqual([[name, { session: sessionKey, text: "Look it up." }]]);
    disk.ends.set(name, DONE);
    subAgents.ended(name);
    subAgents.ended(name);
    await settled(subAgents);
    expect([...disk.messages.values()].slice(1)).toEqual([
      { session: "chat", text: "done: It is there. (web)" },
    ]);
    expect((await subAgents.of("chat"))[0]?.tasks).toMatchObject([{ key: "c1", ended: "done" }]);
  });

  it("is left to the process that answers its parent", async () => {
    const { subAgents, disk } = await open();
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    disk.ends.set(`task:${id}:c1`, DONE);
    const neighbor = await open(disk, {
      isOwn: ({ parentKey }: { parentKey: string }) => parentKey !== "chat",
    });
    await settled(neighbor.subAgents);
    expect(disk.messages.size).toBe(1);
    await settled(subAgents);
    expect(disk.messages.size).toBe(2);
  });

  it("is the same where the same call is made again", async () => {
    const { subAgents, disk } = await open();
    const first = await subAgents.spawn(WORK, giver("c1"));
    const again = await subAgents.spawn(WORK, giver("c1"));
    expect(again.id).toBe(first.id);
    expect(disk.messages.size).toBe(1);
  });

  it("takes further tasks of its parent, and of nobody else", async () => {
    const { subAgents, disk } = await open();
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    await subAgents.send(id, "And there?", giver("c2"));
    expect([...disk.messages.keys()]).toEqual([`task:${id}:c1`, `task:${id}:c2`]);
    const other = subAgents.send(id, "And there?", giver("c3", { sessionKey: "another chat" }));
    await expect(other).rejects.toMatchObject({ code: "unknown" });
    expect(await subAgents.of("another chat")).toEqual([]);
  });

  it("waits on record where the host cannot take its task or its report just now", async () => {
    let full = true;
    const { subAgents, disk } = await open(newDisk(), { full: () => full });
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    expect(disk.messages.size).toBe(0);
    full = false;
    await subAgents.recover();
    const name = `task:${id}:c1`;
    expect([...disk.messages.keys()]).toEqual([name]);
    full = true;
    disk.ends.set(name, DONE);
    subAgents.ended(name);
    await settled(subAgents);
    expect(disk.messages.size).toBe(1);
    full = false;
    await subAgents.recover();
    expect(disk.messages.size).toBe(2);
  });

  it("is forgotten a week after its last task", async () => {
    let now = 0;
    const { subAgents, disk } = await open(newDisk(), { now: () => now });
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    now = 8 * 24 * 3_600_000;
    await subAgents.recover();
    expect(await subAgents.of("chat")).toHaveLength(1);
    disk.ends.set(`task:${id}:c1`, DONE);
    await subAgents.recover();
    await subAgents.recover();
    expect(await subAgents.of("chat")).toEqual([]);
  });

  it("keeps its tasks no longer either while it is given further ones", async () => {
    let now = 0;
    const disk = newDisk();
    const { subAgents } = await open(disk, { now: () => now });
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    for (const key of ["c2", "c3", "c4"]) {
      for (const name of disk.messages.keys()) disk.ends.set(name, DONE);
      await subAgents.recover();
      now += 5 * 24 * 3_600_000;
      await subAgents.send(id, "And there?", giver(key));
    }
    await subAgents.recover();
    const [kept] = await subAgents.of("chat");
    expect(kept?.tasks.map(({ key }) => key)).toEqual(["c3", "c4"]);
  });

  it("stays where it is given another task at that moment", async () => {
    let now = 0;
    const { subAgents, disk } = await open(newDisk(), { now: () => now });
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    disk.ends.set(`task:${id}:c1`, DONE);
    await subAgents.recover();
    now = 8 * 24 * 3_600_000;
    await Promise.all([subAgents.recover(), subAgents.send(id, "And there?", giver("c2"))]);
    expect(await subAgents.countOpen()).toBe(1);
  });

  it("that cannot be forgotten holds up no other", async () => {
    const disk = newDisk();
    let now = 0;
    const { subAgents } = await open(disk, { now: () => now });
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    disk.ends.set(`task:${id}:c1`, DONE);
    await subAgents.recover();
    now = 8 * 24 * 3_600_000;
    disk.store.remove = () => Promise.reject(new Error("the disk is full"));
    await expect(open(disk, { now: () => now })).resolves.toBeDefined();
  });
});

describe("limits", () => {
  const refusal = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "given",
      (error: unknown) => (error instanceof SubAgentError ? error.code : error),
    );

  it("end at a depth", async () => {
    const { subAgents } = await open();
    expect(await refusal(subAgents.spawn(WORK, giver("c1", { depth: 1 })))).toBe("too_deep");
    const deeper = giver("c1", { depth: 1, limits: { ...LIMITS, maxDepth: 2 } });
    expect((await subAgents.spawn(WORK, deeper)).depth).toBe(2);
  });

  it("count the tasks of a session that have no end, and those that one message has led to", async () => {
    const { subAgents, disk } = await open();
    const end = async (): Promise<void> => {
      for (const name of disk.messages.keys()) disk.ends.set(name, DONE);
      await subAgents.recover();
    };
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    await subAgents.send(id, "more", giver("c2"));
    expect(await refusal(subAgents.spawn(WORK, giver("c3")))).toBe("too_many");
    expect(await refusal(subAgents.send(id, "more", giver("c4")))).toBe("too_many");
    // Made again, a call of before is no further task.
    expect(await refusal(subAgents.spawn(WORK, giver("c1")))).toBe("given");
    await end();
    await subAgents.spawn(WORK, giver("c5"));
    await subAgents.spawn(WORK, giver("c6"));
    await end();
    expect(await refusal(subAgents.spawn(WORK, giver("c7")))).toBe("spent");
    expect(await refusal(subAgents.spawn(WORK, giver("c8", { chain: "m2" })))).toBe("given");
  });
});

describe("a parent that is a sub-agent itself", () => {
  it("reports again when it was told", async () => {
    const { subAgents, disk } = await open();
    const limits = { ...LIMITS, maxDepth: 2 };
    const parent = await subAgents.spawn(WORK, giver("c1", { limits }));
    const under = { sessionKey: parent.sessionKey, depth: 1, limits };
    const child = await subAgents.spawn(WORK, giver("c1", under));
    disk.ends.set(`task:${parent.id}:c1`, { ...DONE, text: "I wait." });
    disk.ends.set(`task:${child.id}:c1`, DONE);
    await subAgents.recover();
    disk.ends.set(`report:${child.id}:c1`, { ...DONE, text: "All of it." });
    await subAgents.recover();
    const told = [...disk.messages.values()].filter(({ session }) => session === "chat");
    expect(told.map(({ text }) => text)).toEqual(["done: I wait. (web)", "done: All of it. (web)"]);
  });
});

describe("a process that dies", () => {
  /** One task, from the call until the parent is told, as often as it takes. */
  async function live(disk: ReturnType<typeof newDisk>, diesAt?: number): Promise<void> {
    const { subAgents, host } = openProcess(disk, diesAt === undefined ? {} : { diesAt });
    await subAgents.start(host);
    const { id } = await subAgents.spawn(WORK, giver("c1"));
    disk.ends.set(`task:${id}:c1`, DONE);
    await subAgents.recover();
  }

  it("at any step loses no task and no report, and repeats none", async () => {
    let deaths = 0;
    for (let diesAt = 1; ; diesAt++) {
      const disk = newDisk();
      const dead = await live(disk, diesAt).then(
        () => false,
        () => true,
      );
      // Where nobody makes the call again, what is on record goes on all the same.
      const next = openProcess(disk);
      await next.subAgents.start(next.host);
      const [before] = await next.subAgents.of("chat");
      if (before !== undefined) expect(disk.messages.has(`task:${before.id}:c1`)).toBe(true);
      await live(disk);
      const texts = [...disk.messages.values()].map(({ text }) => text);
      expect(texts, `after a death at step ${diesAt}`).toEqual([WORK.text, "done: It is there. (web)"]);
      expect((await next.subAgents.of("chat"))[0]?.tasks).toMatchObject([{ ended: "done" }]);
      deaths += dead ? 1 : 0;
      if (diesAt > 20) break;
    }
    expect(deaths).toBeGreaterThan(4);
  });
});
