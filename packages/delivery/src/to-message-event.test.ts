import type { ActionEvent, CommandEvent } from "@signalbox/channel";
import { expect, it } from "vitest";
import { toMessageEvent } from "./to-message-event.ts";

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

it("converts a native command to a message without an id to reply to", () => {
  const command: CommandEvent = { ...PLACE, type: "command", name: "model", args: "fast" };
  expect(toMessageEvent(command)).toMatchObject({
    type: "message",
    text: "/model fast",
    messageId: "",
    addressed: "mention",
    sender: PLACE.sender,
  });
});

it("converts a click on an answer to the chat command for it, and no other click", () => {
  const click: ActionEvent = {
    ...PLACE,
    type: "action",
    messageId: "m-1",
    actionId: "approve",
    value: { id: "ABC123", answer: "deny" },
  };
  expect(toMessageEvent(click)).toMatchObject({
    text: "/approve ABC123 deny",
    messageId: "m-1",
    addressed: "reply",
  });
  expect(toMessageEvent({ ...click, actionId: "other" })).toBeUndefined();
});
