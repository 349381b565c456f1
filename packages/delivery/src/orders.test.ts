import type { ActionEvent, CommandEvent } from "@signalbox/channel";
import { expect, it } from "vitest";
import { orderAsMessage } from "./orders.ts";

const PLACE = {
  channel: "plain",
  account: "main",
  eventId: "e-1",
  conversation: { id: "c", kind: "group" },
  address: "plain:c",
  sender: { id: "ann", isBot: false, isSelf: false },
  addressed: "mention",
  timestamp: 5,
} as const;

it("reads a platform's own command as the message that says the same, with nothing to quote", () => {
  const command: CommandEvent = { ...PLACE, type: "command", name: "model", args: "fast" };
  expect(orderAsMessage(command)).toMatchObject({
    type: "message",
    text: "/model fast",
    messageId: "",
    addressed: "mention",
    sender: PLACE.sender,
  });
});

it("reads a click on an answer to a question as the command that gives it, and no other click", () => {
  const click: ActionEvent = {
    ...PLACE,
    type: "action",
    messageId: "m-1",
    actionId: "approve",
    value: { id: "ABC123", answer: "deny" },
  };
  expect(orderAsMessage(click)).toMatchObject({
    text: "/approve ABC123 deny",
    messageId: "m-1",
    addressed: "reply",
  });
  expect(orderAsMessage({ ...click, actionId: "other" })).toBeUndefined();
});
