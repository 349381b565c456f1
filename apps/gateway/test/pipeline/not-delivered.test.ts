import type { DeliveryEvent } from "@signalbox/channel";
import { expect, it } from "vitest";
import { ends, eventually, exampleConfig, inStore, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

const CONFIG = exampleConfig({
  access: { dm: "open", owners: ["plain:anna"] },
  channels: { plain: { accounts: { main: {} } } },
  replies: { stream: "off", typing: false },
});

function failed(messageId: string, more: Partial<DeliveryEvent> = {}): DeliveryEvent {
  const { text: _, media: __, mentions: ___, ...base } = plainMessage(`failure-of-${messageId}`, "");
  return {
    ...base,
    type: "delivery",
    messageId,
    state: "failed",
    reason: "the recipient\nis not on this platform",
    sender: { id: "bot", isBot: true, isSelf: true },
    ...more,
  };
}

async function open() {
  const world = await openWorld();
  const plain = plainChannel({ openDirect: async (person) => `plain:of-${person}` });
  world.configure(CONFIG);
  world.script([{ text: "the answer" }, { text: "another answer" }]);
  const started = await world.start({ channels: [plain.definition] });
  await plain.emit(plainMessage("1", "the question"));
  await eventually(() => said(plain).includes("the answer"), "the answer is sent");
  await started.settled();
  return { world, plain, started };
}

it("a message that fails after the platform accepted it is reported to the sender's chat, the owner and the agent", async () => {
  const { world, plain, started } = await open();
  expect(await ends(world)).toEqual([["replied", undefined]]);
  expect(await plain.emit(failed("out-1", { code: "invalid" }))).toBe("accepted");

  const [row] = await inStore(world, (store) => store.outbox.list());
  expect(row).toMatchObject({ state: "dead", error: "the recipient is not on this platform" });
  const why = (await world.command(["why", "1", "--details"])).out;
  expect(why).toContain("the recipient is not on this platform");
  expect(why).toContain("dead: the platform accepted it and did not deliver it");

  await eventually(() => said(plain).length === 3, "the chat and the owner are notified");
  // The message counts as reported once the notices are stored as sent.
  await expect.poll(() => ends(world)).toEqual([["failed-reported", "undelivered"]]);
  expect((await world.command(["messages"])).out).toContain("failed-reported");
  // The notices go to different chats, in any order.
  expect(said(plain).slice(1)).toEqual(
    expect.arrayContaining([
      expect.stringContaining("this chat does not accept it"),
      expect.stringContaining("1 dead on plain/main"),
    ]),
  );

  await plain.emit(plainMessage("2", "and now?"));
  await started.settled();
  const prompt = modelRequests(world.anthropic)[1]?.messages.at(-1)?.text;
  expect(prompt).toContain("Not delivered: the recipient is not on this platform");
  expect(prompt).toContain("the answer");

  const retried = await world.command(["outbox", "retry", row?.id ?? ""]);
  expect(retried.code).not.toBe(0);
  expect(retried.err).toContain("accepted it and reported later that it was not delivered");
});

it("a failure of an unknown message is acknowledged, and a redelivered one changes nothing", async () => {
  const { world, plain } = await open();
  expect(await plain.emit(failed("unknown"))).toBe("accepted");
  expect(await ends(world)).toEqual([["replied", undefined]]);
  for (let count = 0; count < 2; count += 1) expect(await plain.emit(failed("out-1"))).toBe("accepted");
  expect(await inStore(world, (store) => store.outbox.list())).toHaveLength(1);
  await eventually(() => said(plain).length === 2, "only the owner is notified");
});
