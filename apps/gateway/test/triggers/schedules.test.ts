import { createManualClock } from "@signalbox/lanes/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { from, OWNED, said } from "../support/feishu-talk.ts";
import {
  ends,
  eventually,
  exampleConfig,
  inboxRows,
  LI,
  openWorld,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const AGENTS = {
  defaults: { model: "anthropic/claude-sonnet-4-6", heartbeat: { enabled: false } },
  list: [{ id: "coder", tools: { allow: ["cron", "message"] } }],
};
const soon = { name: "cron", input: { action: "add", text: "Remind Zhang of the call.", in: "60s" } };
const SECOND = 1_000;

async function open(): Promise<World> {
  const world = await openWorld();
  world.configure(exampleConfig({ agents: AGENTS, access: OWNED }));
  return world;
}

/** The last thing that the model was told. */
function lastSaid(world: World): string {
  return JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages.at(-1));
}

/** What `signalbox cron` says. */
function cron(world: World, ...args: string[]) {
  return world.command(["cron", ...args]);
}

describe("signalbox cron", () => {
  it("adds, lists, runs and removes what an owner wants done in a conversation of theirs", async () => {
    const world = await open();
    world.script([{ text: "Hello." }, { text: "Your call is at five." }]);
    const started = await world.start();
    await started.post(textMessage("hello", from(ZHANG)));
    await started.settled();
    const [row] = await inboxRows(world);
    const session = row?.route?.sessionKey ?? "";
    const [every, missed] = [
      ["--every", "1d"],
      ["--missed", "skip"],
    ];
    const added = await cron(
      world,
      "add",
      ...every,
      ...missed,
      "--session",
      session,
      "--json",
      "Remind",
      "me.",
    );
    const { id, ...what } = JSON.parse(added.out);
    expect(what).toMatchObject({
      agent: "coder",
      session,
      when: "every 1d",
      missed: "skip",
      text: "Remind me.",
    });
    expect(JSON.parse((await cron(world, "list", "--json")).out)).toMatchObject([{ id, missed: "skip" }]);
    expect(await cron(world, "run", id)).toMatchObject({ code: 0, out: `${id} runs now.\n` });
    await eventually(() => said(world).length === 2, "it came");
    await started.settled();
    expect(lastSaid(world)).toContain("Remind me.");
    expect((await inboxRows(world)).map(({ payload }) => payload.role)).toEqual(["owner", "system"]);
    expect(await cron(world, "remove", id)).toMatchObject({ code: 0, out: `${id} was removed.\n` });
    expect(JSON.parse((await cron(world, "list", "--json")).out)).toEqual([]);
  });

  it("has an agent's own conversation on the page hear of what names none", async () => {
    const world = await open();
    world.script([{ text: "All is quiet." }]);
    const started = await world.start();
    const { out } = await cron(world, "add", "--in", "1h", "--json", "Look around.");
    await cron(world, "run", JSON.parse(out).id);
    await eventually(() => world.anthropic.requests.length === 1, "it came");
    await started.settled();
    expect(await started.gateway.service.conversations("")).toMatchObject([{ id: "schedules-coder" }]);
    expect(said(world)).toEqual([]);
  });

  it("says what is wrong, and removes while no gateway runs", async () => {
    const world = await open();
    const started = await world.start();
    await started.post(textMessage("hello", { ...from(LI), chatId: "oc_li" }));
    await started.settled();
    const theirs = (await inboxRows(world))[0]?.route?.sessionKey ?? "";
    const added = await cron(world, "add", "--in", "1h", "--json", "Look around.");
    const { id } = JSON.parse(added.out);
    const wrongs = [
      [["add", "--in", "soon", "x"], /is not a duration/],
      [["add", "x"], /exactly one of at, in, every and cron/],
      [["add", "--in", "1h", "--agent", "nobody", "x"], /no agent nobody/],
      [["add", "--in", "1h", "--session", theirs, "x"], /No owner has written/],
      [["remove", "0123abcd"], /There is no schedule 0123abcd/],
      [["run", "heartbeat"], /Heartbeats are set in the configuration/],
    ] as const;
    for (const [args, why] of wrongs) {
      const { code, err } = await cron(world, ...args);
      expect([args, code !== 0, why.test(err)]).toEqual([args, true, true]);
    }
    await started.stop();
    expect((await cron(world, "run", id)).err).toContain("No gateway is running");
    expect(await cron(world, "remove", id)).toMatchObject({ code: 0 });
    expect((await cron(world, "remove", id)).code).toBe(1);
    expect(JSON.parse((await cron(world, "list", "--json")).out)).toEqual([]);
  });
});

describe("a schedule", () => {
  it("has the agent speak in its conversation when it is due, once, quoting nothing", async () => {
    const world = await open();
    const clock = createManualClock(Date.now());
    world.script([{ toolCalls: [soon] }, { text: "I will." }, { text: "Your call is at five." }]);
    const started = await world.start({ clock });
    await started.post(textMessage("remind me of the call", from(ZHANG)));
    await started.settled();
    expect(said(world)).toEqual(["I will."]);
    await clock.advance(60 * SECOND);
    await eventually(() => said(world).length === 2, "it was due");
    await started.settled();
    expect(said(world)).toEqual(["I will.", "Your call is at five."]);
    expect(lastSaid(world)).toContain("Remind Zhang of the call.");
    const [answer, reminder] = world.feishu.sent;
    expect([answer?.chatId, answer?.parentId === undefined]).toEqual([reminder?.chatId, false]);
    expect(reminder?.parentId).toBeUndefined();
    expect(await ends(world)).toEqual([
      ["replied", undefined],
      ["replied", undefined],
    ]);
  });

  it("outlasts the process, and comes once", async () => {
    const world = await open();
    const clock = createManualClock(Date.now());
    const daily = { name: "cron", input: { action: "add", text: "Say good morning.", every: "1d" } };
    world.script([
      { toolCalls: [soon] },
      { toolCalls: [daily] },
      { text: "I will." },
      { text: "Your call is at five." },
      { toolCalls: [{ name: "cron", input: { action: "list" } }] },
      { text: "That is all." },
    ]);
    const first = await world.start({ clock });
    await first.post(textMessage("remind me of the call", from(ZHANG)));
    await eventually(() => said(world).length > 0, "it is scheduled");
    const listed = await world.command(["cron", "list", "--json"]);
    expect(JSON.parse(listed.out)).toMatchObject([
      { agent: "coder", when: expect.stringMatching(/^at /), text: "Remind Zhang of the call." },
      { agent: "coder", when: "every 1d", text: "Say good morning." },
    ]);
    await first.stop();
    const second = await world.start({ clock });
    await second.settled();
    expect(said(world)).toHaveLength(1);
    await clock.advance(60 * SECOND);
    await eventually(() => said(world).length === 2, "it was due");
    await second.settled();
    await second.stop();
    const third = await world.start({ clock });
    await third.post(textMessage("what is scheduled?", from(ZHANG)));
    await eventually(() => said(world).length === 3, "it is told");
    expect(said(world)).toEqual(["I will.", "Your call is at five.", "That is all."]);
    expect(lastSaid(world)).toContain("every 1d");
    expect(lastSaid(world)).not.toContain("Remind Zhang");
  });

  it("waits for the run that goes on, also where newer messages interrupt", async () => {
    const world = await openWorld();
    const session = { queue: { mode: "interrupt" } };
    world.configure(exampleConfig({ agents: AGENTS, access: OWNED, session }));
    const clock = createManualClock(Date.now());
    const cameMeanwhile = async () => (await inboxRows(world)).length === 2;
    world.script(async (_body, index) => {
      if (index === 0) return { toolCalls: [soon] };
      if (index === 1) {
        await clock.advance(60 * SECOND);
        await eventually(cameMeanwhile, "it was due while the agent was at work");
      }
      return { text: index === 1 ? "I will." : "Your call is at five." };
    });
    const started = await world.start({ clock });
    await started.post(textMessage("remind me of the call", from(ZHANG)));
    await eventually(() => said(world).length === 2, "both were answered");
    await started.settled();
    expect(said(world)).toEqual(["I will.", "Your call is at five."]);
  });

  it("speaks as the gateway itself when it is due: less is done unasked than where its owner speaks", async () => {
    const world = await open();
    const again = { name: "cron", input: { action: "add", text: "And again.", in: "1d" } };
    world.script([{ toolCalls: [soon] }, { text: "I will." }, { toolCalls: [again] }, { text: "Later." }]);
    const clock = createManualClock(Date.now());
    const started = await world.start({ clock });
    await started.post(textMessage("remind me of the call", from(ZHANG)));
    await started.settled();
    await clock.advance(60 * SECOND);
    await eventually(() => said(world).length === 2, "an owner is asked");
    expect(said(world)[1]).toContain("The gateway itself needs approval to change what runs on a schedule");
    const rows = await inboxRows(world);
    expect(rows.map(({ payload }) => payload.role)).toEqual(["owner", "system"]);
  });

  it("needs an owner, a time that means something, and its own conversation", async () => {
    const world = await open();
    world.script([
      { toolCalls: [{ name: "cron", input: { action: "add", text: "x", cron: "99 * * * *" } }] },
      { toolCalls: [{ name: "cron", input: { action: "remove", id: "0123abcd" } }] },
      { text: "It cannot be." },
      { toolCalls: [soon] },
      { text: "They have to agree." },
    ]);
    const started = await world.start();
    await started.post(textMessage("at 99", from(ZHANG)));
    await started.settled();
    const results = JSON.stringify(modelRequests(world.anthropic).at(-1)?.body.messages);
    expect(results).toContain("is not a cron expression");
    expect(results).toContain("This conversation has no schedule 0123abcd");
    await started.post(textMessage("remind me", { ...from(LI), chatId: "oc_li" }));
    await eventually(() => said(world).length === 3, "the member is informed, and an owner is asked");
    expect(said(world).slice(1).join()).toContain("change what runs on a schedule");
  });
});
