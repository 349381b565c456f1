import type { MediaRef } from "@signalbox/channel";
import type { InboxId } from "@signalbox/store";
import { expect, it } from "vitest";
import { createLogger, createRedactor } from "../log.ts";
import { createMediaIn, type MediaInOptions } from "./media-in.ts";
import type { MessageTicket } from "./ticket.ts";

function open(account: MediaInOptions["account"], more: Partial<MediaInOptions> = {}) {
  return createMediaIn({
    account,
    agents: { all: [], defaultId: "coder", problems: [], get: () => undefined },
    workspaces: () => Promise.reject(new Error("there is none")),
    logger: createLogger("silent", createRedactor([])),
    ...more,
  });
}

const isId = (id: string): id is InboxId => id !== "";

function ticket(id: string, media: readonly MediaRef[]): MessageTicket {
  if (!isId(id)) throw new TypeError("a message has an id");
  return {
    kind: "message",
    id,
    sessionKey: "s",
    agentId: "coder",
    exclusive: false,
    recovered: false,
    stored: {
      role: "guest",
      rule: "test",
      event: {
        type: "message",
        eventId: id,
        messageId: id,
        channel: "plain",
        account: "main",
        conversation: { id: "room", kind: "direct" },
        address: "plain:room",
        sender: { id: "anna", isBot: false, isSelf: false },
        addressed: "dm",
        timestamp: 0,
        text: "",
        media,
        mentions: [],
      },
    },
  };
}

it("says of an attachment that it could not be fetched while its account does not run", async () => {
  const message = ticket("m1", [{ kind: "file", mimeType: "text/plain", ref: "x", name: "a.txt" }]);
  expect((await open(() => undefined).show([message], [])).files).toEqual([
    { type: "text/plain", name: "a.txt", note: "could not be fetched" },
  ]);
});
