import type { Clock } from "@signalbox/lanes";
import { createManualClock } from "@signalbox/lanes/testkit";
import { expect, it, onTestFinished } from "vitest";
import { createGateway } from "../../src/index.ts";
import { ask, OWNED } from "../support/feishu-talk.ts";
import { demoConfig, exampleConfig, LI, openWorld, TOKEN, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

it("agents are told the time and its zone, by a platform and at /v1", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED }));
  world.script([{ text: "Now." }, { text: "Now." }]);
  const started = await world.start();
  await ask(started, "What time is it?");
  const response = await fetch(`${started.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "signalbox/coder",
      messages: [{ role: "user", content: "What time is it?" }],
    }),
  });
  expect(response.status).toBe(200);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const told = modelRequests(world.anthropic).map(({ messages }) => messages.at(-1)?.text);
  for (const text of told) expect(text).toMatch(/"time": "\w{3} \d{4}-\d\d-\d\d \d\d:\d\d [^"]+"/);
  expect(told).toEqual([expect.stringContaining(`${zone}"`), expect.stringContaining(`${zone}"`)]);
});

it("a person sees times in their own zone, whatever the machine's", async () => {
  const world = await openWorld();
  const session = {
    identityLinks: { li: [`feishu:${LI}`] },
    timeZones: { [`feishu:${ZHANG}`]: "Asia/Shanghai", li: "America/Lima" },
  };
  world.configure(exampleConfig({ access: OWNED, session }));
  world.script(() => ({ text: "Now." }));
  const started = await world.start();
  await ask(started, "What time is it?", ZHANG);
  await ask(started, "What time is it?", LI);
  const told = modelRequests(world.anthropic).map(({ messages }) => messages.at(-1)?.text);
  expect(told).toEqual([
    expect.stringMatching(/"time": "[^"]+ Asia\/Shanghai"/),
    expect.stringMatching(/"time": "[^"]+ America\/Lima"/),
  ]);
});

it("a host's clock is used, even if it is a class instance", async () => {
  class HostClock implements Clock {
    readonly #clock = createManualClock(86_400_000);
    now() {
      return this.#clock.now();
    }
    after(ms: number, task: () => void) {
      return this.#clock.after(ms, task);
    }
  }
  const world = await openWorld();
  const clock = new HostClock();
  const gateway = await createGateway({ home: world.dir, config: demoConfig(), env: {}, clock });
  onTestFinished(() => gateway.stop());
  expect((await gateway.service.status()).startedAt).toBe(clock.now());
});
