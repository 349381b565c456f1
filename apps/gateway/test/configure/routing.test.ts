import type { MessageEvent } from "@signalbox/channel";
import { createRouter } from "@signalbox/routing";
import { expect, it } from "vitest";
import { explainRoute, routeInput } from "../../src/configure/routing.ts";

const EVENT: MessageEvent = {
  type: "message",
  eventId: "e",
  messageId: "m",
  channel: "discord",
  account: "main",
  conversation: { id: "room", kind: "channel", threadId: "t", parentId: "forum", guildId: "guild" },
  sender: { id: "anna", isBot: false, isSelf: false, roles: ["admin"] },
  address: "discord:room",
  addressed: "mention",
  timestamp: 0,
  text: "hello",
  media: [],
  mentions: [],
};

it("routes by the person in a direct chat, and by the place elsewhere", () => {
  expect(routeInput(EVENT)).toMatchObject({
    peer: { kind: "channel", id: "room" },
    parentPeer: { kind: "channel", id: "forum" },
    guildId: "guild",
    roles: ["admin"],
    threadId: "t",
  });
  const direct = routeInput({ ...EVENT, conversation: { id: "dm", kind: "direct" } });
  expect(direct).toMatchObject({ peer: { kind: "direct", id: "anna" }, parentPeer: undefined });
});

it("says how a route came about, with a few bindings of each kind", () => {
  const bindings = Array.from({ length: 9 }, (_, index) => ({
    agent: "main",
    match: { channel: "discord", peer: { kind: "channel" as const, id: `other-${index}` } },
  }));
  const router = createRouter({ bindings, agents: ["main"], defaultAgent: "main" });
  const { route, tiers } = explainRoute(router, EVENT);
  expect(route.agentId).toBe("main");
  expect(Math.max(...tiers.map(({ tried }) => tried.length))).toBe(5);
});
