import { describe, expect, it } from "vitest";
import { dingtalk } from "../src/index.ts";
import { credentials, never, openBench } from "./harness.ts";

describe("checks", () => {
  it("find nothing wrong if the app has all permissions, and change nothing", async () => {
    await using bench = await openBench();
    const checks = await bench.channel.checks?.(never);
    expect(checks?.map(({ about, ok }) => [about, ok])).toEqual([
      ["credentials", true],
      ["messages", true],
      ["cards", true],
      ["streaming", true],
    ]);
    expect(bench.fakeServer.sent).toEqual([]);
  });

  it.each([
    ["messages", "qyapi_robot_sendmsg"],
    ["cards", "Card.Instance.Write"],
    ["streaming", "Card.Streaming.Write"],
  ])("name the missing permission for %s", async (about, scope) => {
    await using bench = await openBench({ missingScopes: [scope] });
    const failed = (await bench.channel.checks?.(never))?.filter(({ ok }) => !ok);
    expect(failed).toMatchObject([{ about, remedy: expect.stringContaining(scope) }]);
  });

  it("name wrong credentials, without the secret", async () => {
    await using bench = await openBench();
    bench.fakeServer.revoke();
    const checks = await bench.channel.checks?.(never);
    expect(checks).toMatchObject([{ about: "credentials", ok: false, remedy: expect.any(String) }]);
    expect(JSON.stringify(checks)).not.toContain(credentials.clientSecret);
  });
});

describe("settings", () => {
  it.each([
    [{}, "clientId is missing"],
    [{ clientId: "ding x", clientSecret: "12345678" }, "clientId must be"],
    [{ clientId: "dingx" }, "clientSecret is missing"],
    [{ clientId: "dingx", clientSecret: "short" }, "clientSecret is too short"],
    [{ ...credentials, robotCode: "a b" }, "robotCode must"],
    [{ ...credentials, apiBaseUrl: "ftp://x" }, "apiBaseUrl must"],
  ])("%j are refused: %s", async (settings, message) => {
    const checked = await dingtalk.config["~standard"].validate(settings);
    expect(checked.issues?.map((issue) => issue.message).join("\n")).toContain(message);
  });

  it("have DingTalk's address as default", async () => {
    const checked = await dingtalk.config["~standard"].validate({ ...credentials });
    expect(checked).toMatchObject({ value: { apiBaseUrl: "https://api.dingtalk.com" } });
  });
});
