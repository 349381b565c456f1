import { describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually, exampleConfig, inboxRows, inStore, openWorld, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { IN_GROUP, type PlainChannel, plainChannel, plainMessage } from "../support/plain-channel.ts";

/** Longer than any test: what waits for quiet has its turn by something else. */
const NEVER_QUIET_MS = 600_000;

function configOf(queue: object, more: object = {}) {
  return exampleConfig({ channels: { plain: { accounts: { main: {} } } }, session: { queue }, ...more });
}

async function open(queue: object, more: object = {}) {
  const world = await openWorld();
  world.configure(configOf(queue, more));
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    asked.resolve();
    if (index === 0) await gate.promise;
    return { text: `answer ${index}` };
  });
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  const say = async (...ids: readonly string[]) => {
    for (const id of ids) await plain.emit(plainMessage(id, `text of ${id}`));
  };
  return { world, plain, started, say, asked: asked.promise, goOn: gate.resolve };
}

function said({ sent }: PlainChannel): string[] {
  return sent.map(({ message }) => message.parts.map((part) => ("text" in part ? part.text : "")).join());
}

async function ends(world: World): Promise<unknown[]> {
  const rows = await inboxRows(world);
  return rows.map(({ messageId, state, detail }) =>
    [messageId, state, detail?.rule].filter((one) => one).join(" "),
  );
}

const spoken = (world: World): string[] =>
  modelRequests(world.anthropic).map(({ messages }) => messages.at(-1)?.text ?? "");

it("a stop drops messages accepted before it, even if the clock was set back", async () => {
  const { world, plain, started, say, asked, goOn } = await open({ mode: "followup", cap: 9 });
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const start = Date.now();
  await say("m1");
  await asked;
  await say("m2");
  vi.setSystemTime(start - 3_600_000);
  await plain.emit(plainMessage("stop", "/stop"));
  await say("m3");
  goOn();
  vi.useRealTimers();
  await started.settled();
  expect(await ends(world)).toEqual([
    ...["m1 silent stopped", "m2 ignored stopped", "stop replied command:stop", "m3 replied"],
  ]);
});

it("messages use the queue mode that their session has when they arrive", async () => {
  const { world, started, say, asked, goOn } = await open({ mode: "followup", cap: 9 });
  await say("m1");
  await asked;
  await inStore(world, async ({ sessions }) => {
    const [session] = await sessions.list();
    await sessions.patch(session?.key ?? "", { queueMode: "collect" });
  });
  await say("m2", "m3");
  goOn();
  await started.settled();
  expect(spoken(world)).toHaveLength(2);
});

describe("messages beyond the queue's cap", () => {
  it.each([
    [
      "new",
      ["m1 replied", "m2 replied", "m3 ignored queue_full", "m4 ignored queue_full"],
      /skipping new ones/,
    ],
    [
      "old",
      ["m1 replied", "m2 ignored queue_full", "m3 ignored queue_full", "m4 replied"],
      /skipping the oldest/,
    ],
  ])("are dropped with drop: %s, and that is said once", async (drop, states, word) => {
    const { world, plain, started, say, asked, goOn } = await open({ mode: "followup", cap: 1, drop });
    await say("m1");
    await asked;
    await say("m2", "m3", "m4");
    await eventually(() => plain.sent.length === 1, "it is said while the turn runs");
    expect(said(plain)).toEqual([expect.stringMatching(word)]);
    goOn();
    await started.settled();
    expect(await ends(world)).toEqual(states);
    expect(said(plain).slice(1)).toEqual(["answer 0", "answer 1"]);
    // A next time is told again.
    await say("m5", "m6", "m7", "m8");
    await started.settled();
    expect(said(plain).filter((text) => word.test(text))).toHaveLength(2);
  });

  it("are summarized with `followup`, and each one is finished", async () => {
    const { world, plain, started, say, asked, goOn } = await open({ mode: "followup", cap: 2 });
    await say("m0");
    await asked;
    const ids = Array.from({ length: 9 }, (_, index) => `m${index + 1}`);
    await say(...ids);
    goOn();
    await started.settled();
    expect(said(plain)).toEqual(["answer 0", "answer 1", "answer 2"]);
    expect(plain.sent.map(({ message }) => message.replyTo)).toEqual(["m0", "m8", "m9"]);
    expect(await ends(world)).toEqual(["m0", ...ids].map((id) => `${id} replied`));
    const [, second = ""] = modelRequests(world.anthropic).map(({ messages }) =>
      messages.map(({ text }) => text).join("\n"),
    );
    expect(second).toMatch(/7 earlier messages[\s\S]*text of m1[\s\S]*text of m7[\s\S]*text of m8/);
  });

  it("are summarized for the run that they steer", async () => {
    const { world, plain, started, say, asked, goOn } = await open({ cap: 2 });
    await say("m0");
    await asked;
    await say(...["m1", "m2", "m3", "m4"]);
    goOn();
    await started.settled();
    expect(plain.sent).toHaveLength(1);
    expect(await ends(world)).toEqual(["m0", "m1", "m2", "m3", "m4"].map((id) => `${id} replied`));
    const last =
      modelRequests(world.anthropic)
        .at(-1)
        ?.messages.map(({ text }) => text) ?? [];
    expect(last.join("\n")).toMatch(/2 earlier messages[\s\S]*m1[\s\S]*m2[\s\S]*text of m3[\s\S]*text of m4/);
  });
});

describe("/stop", () => {
  it("drops debounced messages, and later messages are processed", async () => {
    const { world, plain, started, say, goOn } = await open({ debounceMs: NEVER_QUIET_MS });
    goOn();
    await say("m1", "m2");
    await plain.emit(plainMessage("m3", "/stop"));
    world.configure(configOf({ debounceMs: 0 }));
    await started.reload();
    await say("m4");
    await started.settled();
    expect(said(plain).toSorted()).toEqual([
      "Nothing was running. 2 waiting messages were dropped.",
      "answer 0",
    ]);
    expect(spoken(world)).toHaveLength(1);
    expect(spoken(world)[0]).toContain("text of m4");
    expect(await ends(world)).toEqual([
      "m1 ignored stopped",
      "m2 ignored stopped",
      "m3 replied command:stop",
      "m4 replied",
    ]);
    expect(JSON.stringify(await started.gateway.service.trace("m1"))).toContain("dropped by a stop");
  });
});

describe("the page's stop button", () => {
  it("stops the run and drops waiting messages", async () => {
    const { world, started, asked, goOn } = await open({ mode: "followup" });
    const { service } = started.gateway;
    const message = { channel: "web", agent: "coder", conversation: "talk" } as const;
    const first = await service.submit({ ...message, id: "w1", text: "one" });
    await asked;
    const second = await service.submit({ ...message, id: "w2", text: "two" });
    expect(await service.abort("web", "coder", "talk")).toBe(true);
    goOn();
    const done = await Promise.all([first, second].map((one) => one.kind === "accepted" && one.done));
    expect(done).toMatchObject([{ state: "aborted" }, { state: "ignored" }]);
    await started.settled();
    expect(await service.abort("web", "coder", "talk")).toBe(false);
    expect(await ends(world)).toEqual(["w1 silent stopped", "w2 ignored stopped"]);
  });
});

describe("many sessions of one sender", () => {
  it("do not starve another sender's session", async () => {
    const { world, plain, started, asked, goOn } = await open(
      {},
      {
        gateway: { port: 0, logLevel: "warn", maxRuns: 1 },
        access: { dm: "open", groups: { mode: "open" } },
      },
    );
    const inGroup = (id: string, sender: string) =>
      plainMessage(id, `text of ${id}`, {
        ...IN_GROUP,
        addressed: "mention",
        address: `plain:${id}`,
        conversation: { id, kind: "group" },
        sender: { id: sender, isBot: false, isSelf: false },
      });
    await plain.emit(inGroup("a1", "anna"));
    await asked;
    for (const id of ["a2", "a3", "a4", "a5"]) await plain.emit(inGroup(id, "anna"));
    await plain.emit(inGroup("b1", "ben"));
    goOn();
    await started.settled();
    const order = spoken(world).map((text) => /text of (\w+)/.exec(text)?.[1]);
    expect(order).toEqual(["a1", "a2", "b1", "a3", "a4", "a5"]);
  });
});

describe("a member's stop in a group", () => {
  it("drops that member's waiting messages only", async () => {
    const { world, plain, started, asked } = await open(
      { mode: "followup" },
      {
        access: { groups: { mode: "open", requireMention: false }, allow: ["plain:anna", "plain:bob"] },
      },
    );
    const say = (id: string, sender: string, text: string) =>
      plain.emit(
        plainMessage(id, text, {
          ...IN_GROUP,
          addressed: "mention",
          sender: { id: sender, isBot: false, isSelf: false },
        }),
      );
    await say("m1", "anna", "work");
    await asked;
    await say("m2", "bob", "and this");
    await say("m3", "anna", "and that");
    await say("m4", "anna", "/stop");
    await started.settled();
    expect(await ends(world)).toEqual([
      "m1 silent stopped",
      "m2 replied",
      "m3 ignored stopped",
      "m4 replied command:stop",
    ]);
    expect(said(plain)).toContain("Stopped. 1 waiting message was dropped.");
    expect(spoken(world).filter((text) => text.includes("and this"))).toHaveLength(1);
  });
});
