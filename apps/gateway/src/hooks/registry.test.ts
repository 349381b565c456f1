import { expect, it } from "vitest";
import type { GatewayHook, RunEnded } from "./hook-points.ts";
import type { UncheckedHook } from "./point-types.ts";
import { createGatewayHooks } from "./registry.ts";

const SILENT = { error() {} };
const redact = (text: string): string => text.replaceAll("secret", "[redacted]");

function hooksOf(hooks: readonly GatewayHook[], configured: readonly UncheckedHook[] = []) {
  return createGatewayHooks({ own: [], hooks, configured: () => configured, redact, logger: SILENT });
}

it("a prompt has no two sections of one name, whatever hooks return", async () => {
  const section = { name: "a", title: "A", text: "a", part: "volatile" } as const;
  const hooks = hooksOf([
    { point: "before_prompt_build", name: "twice", run: () => ({ extra: [section, section] }) },
    { point: "before_prompt_build", name: "once", run: ({ extra }) => ({ extra: [...extra, section] }) },
  ]);
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

it("takes secrets out of what code of others is told of a run that failed, and leaves the rest", async () => {
  const told: unknown[] = [];
  const run = (ended: object): void => void told.push(ended);
  const hooks = hooksOf(
    [{ point: "run_end", name: "watch", run }],
    [{ point: "run_end", name: "script", run }],
  );
  const ended: RunEnded = {
    agentId: "coder",
    sessionKey: "s",
    runId: "r",
    messageIds: ["m"],
    outcome: "failed",
    usage: undefined,
    models: [],
    error: undefined,
  };
  hooks.observe("run_end", { ...ended, error: { code: "internal", message: "a secret was refused" } });
  await hooks.idle();
  const clean = { ...ended, error: { code: "internal", message: "a [redacted] was refused" } };
  expect(told).toEqual([clean, clean]);
  hooks.observe("run_end", ended);
  await hooks.idle();
  expect(told.slice(2)).toEqual([ended, ended]);
});
