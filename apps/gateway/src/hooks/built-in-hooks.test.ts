import { expect, it } from "vitest";
import { sentMessage, shownMessage } from "./message-sent.ts";

const PLACE = { channel: "plain", account: "main", address: "plain:room" };
const parts = [{ type: "markdown" as const, text: "hello" }];

it("tells of a reply what went out, and nothing that is the outbox's own", () => {
  const payload = { parts, draft: "d", notice: true };
  expect(sentMessage({ ...PLACE, sessionKey: "s", payload })).toEqual({
    ...PLACE,
    sessionKey: "s",
    runId: undefined,
    message: { parts },
  });
});

it("tells of what a client was shown as of what was sent", () => {
  const asked = { sessionKey: "s", stored: { event: PLACE } };
  expect(shownMessage(asked, "r", "hello")).toEqual({
    ...PLACE,
    sessionKey: "s",
    runId: "r",
    message: { parts },
  });
});
