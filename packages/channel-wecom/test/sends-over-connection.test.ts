import { expect, it } from "vitest";
import { wecom } from "../src/wecom.ts";

it("can send only over its connection in socket mode, and over HTTP in webhook mode", async () => {
  const sends = async (settings: Readonly<Record<string, unknown>>) => {
    const result = await wecom.config["~standard"].validate(settings);
    if (result.issues) throw new Error(result.issues[0]?.message);
    return wecom.sendsOverConnection?.(result.value);
  };
  expect(await sends({ botId: "b", secret: "s" })).toBe(true);
  const webhook = { transport: "webhook", token: "t", encodingAesKey: "a".repeat(43) };
  expect(await sends(webhook)).toBe(false);
});
