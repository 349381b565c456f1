import { type FakeBlueBubbles, startBlueBubbles, startImsg } from "@signalbox/testkit/imessage";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, inStore, openWorld, type World } from "../support/harness.ts";

const person = "+4915100000001";
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

async function openBlueBubbles(): Promise<{ readonly world: World; readonly server: FakeBlueBubbles }> {
  const world = await openWorld();
  const server = await startBlueBubbles({ password: "secret" });
  onTestFinished(() => server.stop());
  return { world, server };
}

function configure(world: World, account: object): void {
  const channels = { imessage: { accounts: { main: account } } };
  world.configure(exampleConfig({ channels, access: { dm: "open" } }));
}

describe("iMessage", () => {
  it("is set up by `init`, answers, and is checked by `doctor`", async () => {
    const { world, server } = await openBlueBubbles();
    world.configure(exampleConfig({ channels: {} }));
    world.script(() => ({ text: "**here** I am" }));
    const settings = ["--set", `baseUrl=${server.url}`, "--set", "password=secret"];
    const setUp = await world.command([
      "init",
      "--yes",
      "--channel",
      "imessage",
      ...settings,
      "--owner",
      person,
    ]);
    expect(setUp).toMatchObject({ code: 0, err: expect.stringContaining("The settings work.") });
    const started = await world.start();
    server.messages.say("are you there?", { sender: person });
    await eventually(() => server.messages.sent.length > 0, "it answers");
    expect(server.messages.sent).toMatchObject([{ chatGuid: `iMessage;-;${person}`, text: "here I am" }]);
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/^ok +channel imessage\/main server: BlueBubbles 1\.9\.9$/m);
    expect(out).toMatch(/^ok +channel imessage\/main private api: /m);
    await started.stop();
  });

  it("finds a reply whose response is lost in the history, and does not send it again", async () => {
    const { world, server } = await openBlueBubbles();
    configure(world, { baseUrl: server.url, password: "secret" });
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    for (let round = 0; round < 3; round += 1) {
      const before = server.messages.sent.length;
      server.fail({ kind: "cut" });
      server.messages.say(`question ${round}`, { sender: person });
      await eventually(() => server.messages.sent.length > before, "the answer is out");
      await started.settled();
    }
    expect(server.messages.sent.map(({ text }) => text)).toEqual(["answer 0", "answer 1", "answer 2"]);
    const rows = await inStore(world, (store) => store.outbox.list({ states: STATES }));
    expect(rows.map(({ state }) => state)).toEqual(["sent", "sent", "sent"]);
    await started.stop();
  });

  it("answers what was written through imsg while the gateway was down, once", async () => {
    const world = await openWorld();
    const imsg = await startImsg();
    onTestFinished(() => imsg.stop());
    configure(world, { command: imsg.command });
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    imsg.messages.say("first", { sender: person });
    await eventually(() => imsg.messages.sent.length === 1, "the first message is answered");
    await started.stop();
    await eventually(() => imsg.running().processes === 0, "imsg has ended");

    imsg.messages.say("second", { sender: person });
    const again = await world.start();
    await eventually(() => imsg.messages.sent.length === 2, "the second message is answered");
    await again.settled();
    expect(imsg.messages.sent.map(({ text }) => text)).toEqual(["answer 0", "answer 1"]);
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/^ok +channel imessage\/main database: /m);
    await again.stop();
  });
});
