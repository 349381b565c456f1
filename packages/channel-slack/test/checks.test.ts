import { signed } from "@signalbox/testkit/slack";
import { expect, it } from "vitest";
import { credentials, never, openBench } from "./harness.ts";

const webhookUrl = "https://gateway.example/channels/slack/main/events";

/** Opens an account whose webhook URL leads to it through `proxied`. */
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

it("the webhook URL is checked with a challenge that only this account can answer", async () => {
  await using bench = await openPublished();
  expect(await webhookCheck(bench)).toMatchObject({ ok: true });
  expect(bench.events).toEqual([]);
  expect(bench.logged.join("\n")).not.toContain(credentials.signingSecret);
});

it("the webhook check fails if a proxy changes the request body", async () => {
  await using bench = await openPublished({}, (init) => ({ ...init, body: `${init?.body} ` }));
  expect(await webhookCheck(bench)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("rejects this account's secret"),
  });
});

it("the webhook check reports an unknown result without a URL and is skipped for sockets", async () => {
  await using bench = await openBench({ transport: "webhook" });
  expect(await webhookCheck(bench)).toMatchObject({
    ok: true,
    detail: expect.stringContaining("not checked"),
  });
  await using sockets = await openBench({ transport: "socket" });
  expect(await webhookCheck(sockets)).toBeUndefined();
});

it("an account with another signing secret is degraded after Slack's first request, until one is verified", async () => {
  await using bench = await openBench({ transport: "webhook" });
  const received = async () =>
    (await bench.channel.checks?.(never))?.find(({ about }) => about === "received");
  expect(await received()).toMatchObject({
    ok: true,
    detail: expect.stringContaining("no event was received"),
  });
  const post = (signingSecret: string) => {
    const body = JSON.stringify({ type: "event_callback", event: { type: "team_rename", name: "x" } });
    const request = signed(body, "application/json", { signingSecret });
    return bench.channel.webhook?.(new Request("http://gateway/events", request));
  };
  expect((await post("another"))?.status).toBe(401);
  const remedy = "Compare signingSecret with the Signing Secret under Basic Information of the app.";
  expect(bench.channel.health()).toMatchObject({
    state: "degraded",
    reason: expect.stringContaining(remedy),
  });
  expect(await received()).toMatchObject({ ok: false, remedy });
  await post(credentials.signingSecret);
  expect(bench.channel.health()).toEqual({ state: "ready" });
  await post("another");
  expect(bench.channel.health()).toEqual({ state: "ready" });
});
