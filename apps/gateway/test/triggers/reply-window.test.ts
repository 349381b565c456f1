import { createManualClock } from "@signalbox/lanes/testkit";
import { expect, it } from "vitest";
import { ends, eventually, exampleConfig, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

const MINUTE = 60_000;

/** A gateway whose owner gets heartbeats on a platform that accepts replies for `windowMinutes`. */
async function open(windowMinutes: number) {
  const world = await openWorld();
  const clock = createManualClock(Date.now());
  const plain = plainChannel({ openDirect: async (person) => `plain:of-${person}` });
  const capabilities = { ...plain.definition.capabilities, replies: { windowMs: windowMinutes * MINUTE } };
  const channels = [{ ...plain.definition, capabilities }];
  world.configure(
    exampleConfig({
      access: { dm: "open", owners: ["plain:anna"] },
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", heartbeat: { to: "owner" }, tools: { allow: ["cron"] } }],
      },
      channels: { plain: { accounts: { main: {} } } },
      replies: { stream: "off", typing: false },
    }),
  );
  world.files({ "HEARTBEAT.md": "- look at the mail" });
  world.script([{ text: "hello" }, { text: "There is mail." }]);
  const first = await world.start({ clock, channels });
  await plain.emit(plainMessage("1", "hi", { timestamp: clock.now() }));
  await first.settled();
  await first.stop();
  await clock.advance(31 * MINUTE);
  const second = await world.start({ clock, channels });
  await clock.advance(0);
  return { world, plain, clock, started: second };
}

it("a heartbeat is ignored before a model is called if its platform would reject the message, and the owner is informed", async () => {
  const { world, plain, clock } = await open(10);
  const ignored = ["ignored", "reply_window"];
  await eventually(
    async () => JSON.stringify((await ends(world))[1]) === JSON.stringify(ignored),
    "the heartbeat is ignored",
  );
  expect(world.anthropic.requests).toHaveLength(1);
  await clock.advance(5_000);
  await eventually(() => said(plain).length === 2, "the owner is informed");
  expect(said(plain)[1]).toContain("did not run: Plain accepts messages only within 10 min");
  const [{ id } = { id: "" }] = JSON.parse((await world.command(["messages", "--json"])).out);
  expect((await world.command(["why", id])).out).toContain(
    "the platform accepts only replies there, and no person has written recently (reply_window)",
  );
});

it("a heartbeat runs while its platform accepts messages", async () => {
  const { world, plain, started } = await open(60);
  await eventually(() => world.anthropic.requests.length === 2, "the heartbeat calls the model");
  await started.settled();
  expect(said(plain)).toEqual(["hello", "There is mail."]);
});

it("doctor warns of a schedule that its platform will refuse", async () => {
  const { plain, started, world, clock } = await open(60);
  world.script([
    { text: "hello" },
    { text: "There is mail." },
    { toolCalls: [{ name: "cron", input: { action: "add", text: "greet", in: "2h" } }] },
    { text: "Scheduled." },
  ]);
  await eventually(() => world.anthropic.requests.length === 2, "the heartbeat calls the model");
  await started.settled();
  await plain.emit(plainMessage("2", "greet me in two hours", { timestamp: clock.now() }));
  await eventually(() => said(plain).includes("Scheduled."), "the schedule is added");
  const checks = await started.gateway.service.checks(false);
  expect(checks.filter(({ part }) => part.startsWith("schedule"))).toMatchObject([
    {
      ok: false,
      detail: expect.stringContaining(
        "unless the person writes within 1 h before: Plain accepts only replies",
      ),
    },
  ]);
});
