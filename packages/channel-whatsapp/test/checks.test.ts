import { openChannel } from "@signalbox/channel/testkit";
import { startWhatsApp } from "@signalbox/testkit/whatsapp";
import { expect, it, onTestFinished } from "vitest";
import { whatsapp } from "../src/index.ts";
import { credentials, never, openBench } from "./harness.ts";

const DAY = 86_400_000;

it("finds nothing wrong with a complete account", async () => {
  await using bench = await openBench();
  expect(await bench.channel.checks?.(never)).toMatchObject([
    { about: "number", ok: true, detail: "Signalbox, +1 555-078-3881; quality rating GREEN" },
    { about: "token", ok: true, detail: "the token does not expire" },
    { about: "webhook", ok: true },
    { about: "received", ok: true, detail: expect.stringContaining("no event was received") },
  ]);
});

it("warns about a token that expires soon or lacks a permission", async () => {
  await using expiring = await openBench({ tokenExpiresAt: Date.now() + DAY });
  expect((await expiring.channel.checks?.(never))?.[1]).toMatchObject({
    ok: false,
    detail: expect.stringContaining("the token expires at"),
    remedy: expect.stringContaining("System users"),
  });
  await using later = await openBench({ tokenExpiresAt: Date.now() + 60 * DAY });
  expect((await later.channel.checks?.(never))?.[1]).toMatchObject({ ok: true });
  await using lacking = await openBench({ scopes: ["whatsapp_business_management"] });
  expect((await lacking.channel.checks?.(never))?.[1]).toMatchObject({
    ok: false,
    detail: "the token lacks whatsapp_business_messaging",
  });
});

it("warns about a number that people report", async () => {
  await using bench = await openBench({ quality: "RED" });
  expect((await bench.channel.checks?.(never))?.[0]).toMatchObject({ ok: false });
});

it("finds out that no webhook is registered, or that another account answers there", async () => {
  await using bench = await openBench();
  const about = async (webhooks: object) => {
    bench.fakeServer.answerAt(`/v23.0/${bench.fakeServer.phoneNumberId}?fields=webhook_configuration`, () =>
      Response.json({ webhook_configuration: webhooks }),
    );
    return (await bench.channel.checks?.(never))?.[2];
  };
  expect(await about({})).toMatchObject({ ok: false, detail: expect.stringContaining("no webhook URL") });
  expect(await about({ phone_number: `${bench.fakeServer.url}/elsewhere` })).toMatchObject({ ok: false });
});

it("skips what the token may not ask", async () => {
  await using bench = await openBench();
  bench.fakeServer.fail({ kind: "error", code: 10, path: "debug_token" });
  const checks = await bench.channel.checks?.(never);
  expect(checks?.map(({ about }) => about)).toEqual(["number", "webhook", "received"]);
});

it("fails to start with the reason if the token is rejected", async () => {
  await using server = Object.assign(await startWhatsApp(credentials), {
    async [Symbol.asyncDispose]() {
      await server.stop();
    },
  });
  server.revoke();
  await expect(openBench({ fakeServer: server })).rejects.toMatchObject({
    code: "auth",
    scope: "account",
    settings: ["accessToken"],
  });
});

it("names the settings that can be wrong if Meta does not find the number", async () => {
  const server = await startWhatsApp(credentials);
  onTestFinished(() => server.stop());
  const settings = { ...credentials, phoneNumberId: "100000000000001", apiBaseUrl: server.url };
  await expect(openChannel(whatsapp, settings)).rejects.toMatchObject({
    code: "not_found",
    settings: ["phoneNumberId", "accessToken"],
  });
});
