import { expect, it } from "vitest";
import { systemClock } from "../host/system-clock.ts";
import { eventBase, eventFacts } from "./event-base.ts";

const clock = { ...systemClock, now: () => 7 };
const parts = {
  eventId: "e",
  conversation: { id: "c", kind: "group" },
  address: "echo:c",
  sender: { id: "ann", isBot: false, isSelf: false },
  payload: { text: "hi", at: new Date(0) },
} as const;

it("combines the fields of the account with those of the event", () => {
  const facts = eventFacts({ account: "main", clock }, "bot");
  expect(eventBase("echo", facts, parts)).toEqual({
    eventId: "e",
    channel: "echo",
    account: "main",
    botId: "bot",
    conversation: { id: "c", kind: "group" },
    address: "echo:c",
    sender: { id: "ann", isBot: false, isSelf: false },
    addressed: "none",
    timestamp: 7,
  });
});

it("addresses the bot in a direct conversation, and prefers the event's own time", () => {
  const facts = eventFacts({ account: "main", clock }, "bot");
  const direct = { ...parts, conversation: { id: "c", kind: "direct" }, timestamp: 3 } as const;
  expect(eventBase("echo", facts, direct)).toMatchObject({ addressed: "dm", timestamp: 3 });
});

it("adds the payload as JSON if the host asks for it", () => {
  const facts = eventFacts({ account: "main", clock, raw: true }, "bot");
  expect(eventBase("echo", facts, parts).raw).toEqual({ text: "hi", at: {} });
});
