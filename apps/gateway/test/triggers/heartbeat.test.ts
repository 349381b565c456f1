import { createManualClock, type ManualClock } from "@signalbox/lanes/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import { from, OWNED, said } from "../support/feishu-talk.ts";
import {
  ends,
  eventually,
  exampleConfig,
  openWorld,
  type Started,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const MINUTE = 60_000;

function configured(heartbeat: unknown, more = {}) {
  const defaults = { model: "anthropic/claude-sonnet-4-6" };
  const list = [{ id: "coder", heartbeat }];
  return exampleConfig({ agents: { defaults, list }, access: OWNED, ...more });
}

/** Starts a gateway so much later than the last one. */
async function startLater(world: World, clock: ManualClock, minutes: number): Promise<Started> {
  await clock.advance(minutes * MINUTE);
  const started = await world.start({ clock });
  // What is due already is handed over at the clock's next move.
  await clock.advance(0);
  return started;
}

it("goes to the agent's own conversation on the page, once over stops, and is silent where nothing is said", async () => {
  const world = await openWorld();
  const clock = createManualClock(Date.now());
  world.configure(configured(undefined));
  world.script([{ text: "There is mail." }, { text: "__SILENT__" }]);
  world.files({ "HEARTBEAT.md": "- look at the mail" });
  await (await world.start({ clock })).stop();
  const listed = await world.command(["cron", "list", "--json"]);
  expect(JSON.parse(listed.out)).toMatchObject([{ id: "heartbeat", agent: "coder", when: "every 30m" }]);
  const second = await startLater(world, clock, 31);
  await eventually(() => world.anthropic.requests.length === 1, "the heartbeat came");
  await second.settled();
  await second.stop();
  const again = await startLater(world, clock, 1);
  await again.settled();
  await again.stop();
  const third = await startLater(world, clock, 29);
  await eventually(() => world.anthropic.requests.length === 2, "the next one came");
  await third.settled();
  expect(await ends(world)).toEqual([
    ["replied", undefined],
    ["silent", undefined],
  ]);
  expect(modelRequests(world.anthropic)[0]?.messages.at(-1)?.text).toContain("- look at the mail");
  expect(await third.gateway.service.conversations("")).toMatchObject([
    { id: "heartbeat-coder", agent: "coder", title: expect.stringMatching(/^Heartbeat/) },
  ]);
});

it("costs no call of a model where its file asks for nothing, and comes to nobody who wants none", async () => {
  const world = await openWorld();
  const clock = createManualClock(Date.now());
  world.configure(configured({ enabled: false }));
  world.files({ "HEARTBEAT.md": "- look at the mail" });
  await (await world.start({ clock })).stop();
  await (await startLater(world, clock, 31)).stop();
  world.configure(configured({ to: "page" }));
  world.files({ "HEARTBEAT.md": "# Heartbeat\n<!-- nothing yet -->\n" });
  await (await world.start({ clock })).stop();
  const started = await startLater(world, clock, 31);
  await started.settled();
  await started.stop();
  expect(await ends(world)).toEqual([]);
  expect(world.anthropic.requests).toHaveLength(0);
});

it("goes to its owner's chat where that was said", async () => {
  const world = await openWorld();
  const clock = createManualClock(Date.now());
  world.configure(configured({ to: "owner" }));
  world.files({ "HEARTBEAT.md": "- look at the mail" });
  world.script([{ text: "Hello." }, { text: "There is mail." }]);
  const first = await world.start({ clock });
  await first.post(textMessage("hello", from(ZHANG)));
  await first.settled();
  await first.stop();
  const second = await startLater(world, clock, 31);
  await eventually(() => said(world).length === 2, "the heartbeat came");
  await second.settled();
  expect(said(world)).toEqual(["Hello.", "There is mail."]);
  const [answer, told] = world.feishu.sent;
  expect(told?.chatId).toBe(answer?.chatId);
  expect(told?.parentId).toBeUndefined();
});

it("comes and goes with the configuration while the gateway runs", async () => {
  const world = await openWorld();
  const clock = createManualClock(Date.now());
  world.configure(configured({ enabled: false }));
  world.files({ "HEARTBEAT.md": "- look at the mail" });
  world.script([{ text: "There is mail." }]);
  const first = await world.start({ clock });
  world.configure(configured({}));
  await first.reload();
  await first.stop();
  const second = await startLater(world, clock, 31);
  await eventually(() => world.anthropic.requests.length === 1, "the heartbeat came");
  await second.settled();
  world.configure(configured({ enabled: false }));
  await second.reload();
  await second.stop();
  world.configure(configured({}));
  // It begins anew, though the one that was ended would be due by now.
  const third = await startLater(world, clock, 31);
  await third.settled();
  expect(world.anthropic.requests).toHaveLength(1);
});
