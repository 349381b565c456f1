import { type FakeSignal, signalPerson, startSignal, textEnvelope } from "@signalbox/testkit/signal";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, inStore, openWorld, type World } from "../support/harness.ts";

const account = "+4915199999999";
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

async function openSignal(): Promise<{ readonly world: World; readonly signal: FakeSignal }> {
  const world = await openWorld();
  const signal = await startSignal({ account, people: [signalPerson], receiveMode: "on-connection" });
  onTestFinished(() => signal.stop());
  return { world, signal };
}

function configure(world: World, signal: FakeSignal, access: object = { dm: "open" }): void {
  const channels = { signal: { accounts: { main: { account, baseUrl: signal.url } } } };
  world.configure(exampleConfig({ channels, access }));
}

describe("Signal", () => {
  it("is set up by `init`, answers, and is checked by `doctor`", async () => {
    const { world, signal } = await openSignal();
    world.configure(exampleConfig({ channels: {} }));
    world.script(() => ({ text: "**here** I am" }));
    const settings = ["--set", `account=${account}`, "--set", `baseUrl=${signal.url}`];
    const setUp = await world.command([
      "init",
      "--yes",
      "--channel",
      "signal",
      ...settings,
      "--owner",
      signalPerson.uuid,
    ]);
    expect(setUp).toMatchObject({ code: 0, err: expect.stringContaining("The settings work.") });
    const started = await world.start();
    await signal.push(textEnvelope("are you there?"));
    await eventually(() => signal.sent.length > 0, "it answers");
    expect(signal.sent).toMatchObject([
      { to: signalPerson.uuid, texts: ["here I am"], styles: ["0:4:BOLD"] },
    ]);
    const { out } = await world.command(["doctor"]);
    expect(out).toMatch(/^ok +channel signal\/main signal-cli: signal-cli 0\.14\.6$/m);
    expect(out).toMatch(/^ok +channel signal\/main account: /m);
    await started.stop();
  });

  it("shows a reply whose response is lost as uncertain, informs the person, and never repeats it", async () => {
    const { world, signal } = await openSignal();
    configure(world, signal);
    world.script((_, index) => ({ text: `answer ${index}` }));
    const started = await world.start();
    for (let round = 0; round < 3; round += 1) {
      const before = signal.sent.length;
      signal.fail({ kind: "cut" });
      await signal.push(textEnvelope(`question ${round}`));
      await eventually(() => signal.sent.length > before, "the answer is out");
      await started.settled();
    }
    const rows = await inStore(world, (store) => store.outbox.list({ states: STATES }));
    const texts = signal.sent.flatMap((message) => message.texts);
    for (let round = 0; round < 3; round += 1)
      expect(texts.filter((text) => text.includes(`answer ${round}`))).toHaveLength(1);
    expect(rows.filter(({ state }) => state === "uncertain").length).toBeGreaterThanOrEqual(3);
    await started.stop();
  });

  it("sends a reply later, and once, if the daemon did not run", async () => {
    const { world, signal } = await openSignal();
    configure(world, signal);
    world.script([{ text: "the answer" }]);
    const started = await world.start();
    signal.fail({ kind: "rate", retryAfterSeconds: 1 });
    await signal.push(textEnvelope("question"));
    await eventually(() => signal.sent.length > 0, "the answer is out");
    await started.settled();
    expect(signal.sent.map(({ texts }) => texts)).toEqual([["the answer"]]);
    await started.stop();
  });
});
