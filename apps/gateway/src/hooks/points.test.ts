import { createLogger } from "@signalbox/telemetry/logger";
import { expect, it } from "vitest";
import { createGatewayHooks } from "./registry.ts";

it("a prompt has no two sections of one name, whatever hooks return", async () => {
  const section = { name: "a", title: "A", text: "a", part: "volatile" } as const;
  const hooks = createGatewayHooks(
    [
      { point: "before_prompt_build", name: "twice", run: () => ({ extra: [section, section] }) },
      { point: "before_prompt_build", name: "once", run: ({ extra }) => ({ extra: [...extra, section] }) },
    ],
    createLogger("silent", (text) => text),
  );
  const asked = {
    agentId: "main",
    sessionKey: "agent:main:main",
    model: "a/b",
    instructions: undefined,
    event: {
      ...({ type: "message", eventId: "e", messageId: "m", channel: "plain", account: "main" } as const),
      conversation: { id: "room", kind: "direct" } as const,
      sender: { id: "anna", isBot: false, isSelf: false },
      ...({
        address: "plain:room",
        addressed: "dm",
        timestamp: 0,
        text: "hello",
        media: [],
        mentions: [],
      } as const),
    },
    pages: [],
    files: [],
    extra: [],
  };
  expect((await hooks.modify("before_prompt_build", asked)).extra).toEqual([section]);
});
