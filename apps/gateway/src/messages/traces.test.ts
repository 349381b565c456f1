import { plainMessage } from "@signalbox/channel/testkit";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import type { ServiceBodies } from "./service-store.ts";
import { findMessage } from "./traces.ts";

it("finds a message by its own id, whatever a client calls others", async () => {
  const store = await openStore<ServiceBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const accept = async (messageId: string) => {
    const taken = await store.inbox.accept({
      channel: "api",
      account: "main",
      eventId: messageId,
      messageId,
      kind: "message",
      conversationId: "c",
      senderId: "token",
      payload: { event: plainMessage({ messageId, text: "hello", media: [] }), rule: "token" },
    });
    if (taken.outcome !== "accepted") throw new Error(taken.outcome);
    return taken.id;
  };
  const first = await accept("m1");
  const second = await accept(first);
  expect((await findMessage(store, first))?.id).toBe(first);
  expect((await findMessage(store, second.toLowerCase()))?.id).toBe(second);
  expect((await findMessage(store, "m1"))?.id).toBe(first);
});
