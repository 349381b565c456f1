import { createClient } from "@signalbox/client";
import { startFeishu, textMessage } from "@signalbox/testkit/feishu";
import { expect, it, onTestFinished } from "vitest";
import { from } from "../support/feishu-talk.ts";
import { APP, exampleConfig, feishuAccount, openWorld, TOKEN, ZHANG } from "../support/harness.ts";

it("says that an answer is not out while the platform refuses the account, until it is", async () => {
  const world = await openWorld();
  world.script(() => ({ text: "here I am" }));
  // A platform that knows another secret than the account.
  const feishu = await startFeishu({ ...APP, appSecret: "another-secret-0123456789" });
  onTestFinished(() => feishu.stop());
  const access = { dm: "open", owners: [`feishu:${ZHANG}`] };
  const channels = (baseUrl: string) => ({ feishu: { accounts: { main: feishuAccount({ baseUrl }) } } });
  world.configure(exampleConfig({ access, channels: channels(feishu.url) }));
  const started = await world.start();
  const post = { ...from(ZHANG), messageId: "om_refused" };
  await started.post(textMessage("are you there?", post));
  const client = createClient({ baseUrl: started.url, token: TOKEN });
  const states = async () => (await client.messages()).messages.map(({ state }) => state);
  await expect.poll(states).toEqual(["sending"]);
  await expect.poll(async () => (await client.messages()).messages[0]?.reason).toBeDefined();
  expect((await world.command(["messages"])).out).toMatch(/sending/);
  expect((await world.command(["why", "om_refused"])).out).toMatch(
    /Agent coder has answered, but the answer is not delivered yet: .*app secret invalid\.\nThe gateway tries/,
  );
  const status = await world.command(["status"]);
  expect(status.out).toMatch(/channel feishu\/main: degraded \(.*app secret invalid/);
  const doctor = await world.command(["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toMatch(/^error +channel feishu\/main: degraded: .*app secret invalid/m);
  expect(doctor.out).toMatch(
    /^error +channel feishu\/main: the platform refuses the account: .*app secret invalid/m,
  );

  world.configure(exampleConfig({ access, channels: channels(world.feishu.url) }));
  await started.reload();
  await expect.poll(() => world.feishu.sent.length).toBe(1);
  await expect.poll(states).toEqual(["replied"]);
  expect((await world.command(["why", "om_refused"])).out).toContain("It was answered by agent coder");
});
