import { plainMessage } from "@signalbox/channel/testkit";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { findLastText } from "./find-last-text.ts";
import type { ServiceBodies } from "./service-store.ts";

it("are those of the person, and no command, nor what was due in their name", async () => {
  const { inbox, close } = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(close);
  let events = 0;
  async function accept(senderId: string, text: string, messageId?: string) {
    const accepted = await inbox.accept({
      channel: "plain",
      account: "main",
      eventId: `e${++events}`,
      ...(messageId === undefined ? {} : { messageId }),
      kind: "message",
      conversationId: "room",
      senderId,
      payload: { event: plainMessage({ text }), rule: "dm_open" },
      route: { agentId: "coder", sessionKey: "s" },
    });
    if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
    return accepted.id;
  }
  const anna = { sessionKey: "s", senderId: "anna" };
  const first = await accept("anna", "one", "m1");
  await accept("anna", "二", "m2");
  await accept("bob", "from bob", "m3");
  await accept("anna", "/status", "m4");
  await accept("anna", "water the plants");
  expect(await findLastText({ inbox }, anna)).toBe("二");
  expect(await findLastText({ inbox }, anna, first)).toBe("");
});
