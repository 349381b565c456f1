import { buttonClick, CARD_TOPIC, groupId, person } from "@signalbox/testkit/dingtalk";
import { expect, it } from "vitest";
import { never, openBench } from "./harness.ts";

const group = { conversationId: groupId };
const question = {
  parts: [{ type: "buttons", text: "Run `ls`?", buttons: [{ id: "allow", label: "Yes", value: { q: 1 } }] }],
} as const;

it("reports a click in a group with the conversation and the person", async () => {
  await using bench = await openBench();
  const { channel, fakeServer, events } = bench;
  const { parts } = await channel.send(group, question, { idempotencyKey: "q-1", signal: never });
  const id = fakeServer.sent[0]?.buttons[0]?.id ?? "";
  const click = { ...buttonClick(parts[0]?.messageId ?? "", id), spaceType: "IM_GROUP", spaceId: groupId };
  expect(await fakeServer.stream.push(click, { topic: CARD_TOPIC })).toBe(true);
  expect(events).toMatchObject([
    {
      type: "action",
      actionId: "allow",
      value: { q: 1 },
      messageId: parts[0]?.messageId,
      address: "dingtalk:group/cidGroup1%3D%3D",
      conversation: { id: groupId, kind: "group" },
      sender: { id: person.staffId },
    },
  ]);
});

it.each([
  "allow",
  "signalbox.",
  "signalbox.e30",
  "signalbox.%%%",
  `other-app.${Buffer.from('{"id":"allow"}').toString("base64url")}`,
  `signalbox.${Buffer.from("[]").toString("base64url")}`,
])("ignores a click on a button that it did not create: %s", async (id) => {
  await using bench = await openBench();
  expect(await bench.fakeServer.stream.push(buttonClick("card", id), { topic: CARD_TOPIC })).toBe(true);
  expect(bench.events).toEqual([]);
});

it("shows the buttons of a question once if its answer was lost and it is sent again with the same key", async () => {
  await using bench = await openBench({ repeatedCard: "deliver" });
  const { channel, fakeServer } = bench;
  const send = () => channel.send(group, question, { idempotencyKey: "q-1", signal: never });
  fakeServer.fail({ kind: "cut" });
  await expect(send()).rejects.toMatchObject({ code: "unknown_outcome" });
  await send();
  expect(fakeServer.sent).toMatchObject([{ text: "Run `ls`?", buttons: [{ text: "Yes" }] }]);
});
