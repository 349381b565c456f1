import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  inStore,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

const hello = (messageId: string, text: string) => textMessage(text, { senderId: ZHANG, messageId });

function rows(world: World) {
  return inStore(world, (store) => store.outbox.list({ states: ["pending", "sending", "dead", "sent"] }));
}

it("messages of the message tool wait for an account that is not running", async () => {
  const world = await openWorld();
  const gateway = { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 0 };
  world.configure(exampleConfig({ gateway, channels: { plain: { accounts: { main: {} } } } }));
  const asked = Promise.withResolvers<void>();
  const say = { name: "message", input: { action: "send", message: "on my way" } };
  const react = { name: "message", input: { action: "react", message_id: "m1", emoji: "👍" } };
  world.script(async (_, index) => {
    if (index > 0) return [{ toolCalls: [say, react] }, { text: "there" }][index - 1] ?? {};
    asked.resolve();
    await new Promise(() => {});
    return {};
  });
  const plain = plainChannel();
  const first = await world.start({ channels: [plain.definition] });
  await plain.emit(plainMessage("m1", "come here"));
  await asked.promise;
  await first.stop();

  const create = () => Promise.reject(new Error("the platform is away"));
  const second = await world.start({ channels: [{ ...plain.definition, create }] });
  await eventually(async () => {
    const [row] = await inboxRows(world);
    return row?.state === "replied";
  }, "the message is answered");
  await second.stop();
  const waiting = (await rows(world)).toReversed();
  expect(waiting.map(({ state }) => state)).toEqual(["pending", "pending"]);
  expect(JSON.stringify(waiting.map(({ payload }) => payload))).toMatch(/on my way.*there/);
  expect(JSON.stringify(modelRequests(world.anthropic).at(-1)?.body)).toContain("is not running right now");
});

it("replies of a removed account become dead letters, and are sent when it is configured again", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  const reached = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index > 0) return { text: "here is your answer" };
    reached.resolve();
    await new Promise(() => {});
    return {};
  });
  const first = await world.startChild();
  await first.post(hello("om_1", "a question"));
  await reached.promise;
  // Its answer is refused for the moment, so that it waits for another try when the process ends.
  world.feishu.fail({ kind: "rate", method: "POST", path: "/im/v1/messages", times: 1_000, resetSeconds: 2 });
  await first.post(hello("om_2", "/whoami"));
  await eventually(
    async () => (await rows(world)).some(({ state, attempts }) => state === "pending" && attempts > 0),
    "the answer waits",
  );
  await first.end("SIGKILL");
  world.feishu.heal();

  world.configure(exampleConfig({ channels: {} }));
  const without = await world.start();
  await eventually(
    async () => (await rows(world)).filter(({ state }) => state === "dead").length === 2,
    "both replies have their end",
  );
  await without.stop();
  const inbox = await inboxRows(world);
  expect(inbox.map(({ state }) => state)).toEqual(["unreported", "unreported"]);
  const listed = await world.command(["outbox", "list"]);
  expect(listed.out).toMatch(/dead {3}feishu\/main .*account feishu\/main is not configured/);

  world.configure(exampleConfig());
  for (const row of await rows(world)) {
    if (row.state === "dead") await world.command(["outbox", "retry", row.id]);
  }
  const back = await world.start();
  await eventually(() => world.feishu.sent.length === 2, "the replies are out");
  await back.stop();
  expect(world.feishu.sent.map(({ content }) => content).join()).toContain("here is your answer");
});
