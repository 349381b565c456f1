import { expect, it } from "vitest";
import { credentials, never, openBench } from "./harness.ts";

const webhookUrl = "https://gateway.example/channels/slack/main/events";

/** An account whose public address leads to it, by way of `proxied`. */
async function openPublished(
  config: object = {},
  proxied: (init?: RequestInit) => RequestInit = (init = {}) => init,
) {
  const bench: Awaited<ReturnType<typeof openBench>> = await openBench(
    { transport: "webhook", webhookUrl, ...config },
    {
      context: {
        fetch: (input, init) =>
          String(input) === webhookUrl ? fetch(bench.url, proxied(init)) : fetch(input, init),
      },
    },
  );
  return bench;
}

const webhookCheck = async (bench: Awaited<ReturnType<typeof openBench>>) =>
  (await bench.channel.checks?.(never))?.find(({ about }) => about === "webhook");

it("the public address is called with a challenge that this account alone answers", async () => {
  await using bench = await openPublished();
  expect(await webhookCheck(bench)).toMatchObject({ ok: true });
  expect(bench.events).toEqual([]);
  expect(bench.logged.join("\n")).not.toContain(credentials.signingSecret);
});

it("an address whose requests are changed on the way does not take the account's signature", async () => {
  await using bench = await openPublished({}, (init) => ({ ...init, body: `${init?.body} ` }));
  expect(await webhookCheck(bench)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("does not take this account's secret"),
  });
});

it("without an address it says that it cannot know, and over sockets nothing", async () => {
  await using bench = await openBench({ transport: "webhook" });
  expect(await webhookCheck(bench)).toMatchObject({
    ok: true,
    detail: expect.stringContaining("not checked"),
  });
  await using sockets = await openBench({ transport: "socket" });
  expect(await webhookCheck(sockets)).toBeUndefined();
});
