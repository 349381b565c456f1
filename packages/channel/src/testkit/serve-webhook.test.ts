import { expect, it } from "vitest";
import { serveWebhook } from "./serve-webhook.ts";

it("forwards a challenge with its path and query, and an event with its body", async () => {
  const seen: string[] = [];
  const server = await serveWebhook({
    async webhook({ method, url, body }) {
      seen.push(
        `${method} ${new URL(url).pathname}${new URL(url).search} ${await new Response(body).text()}`,
      );
      return new Response("ok", { status: 201 });
    },
  });
  try {
    const challenge = await fetch(`${server.url}/events?hub.challenge=1%202`);
    const event = await fetch(`${server.url}/events`, { method: "POST", body: "{}" });
    expect([challenge.status, await event.text()]).toEqual([201, "ok"]);
    expect(seen).toEqual(["GET /events?hub.challenge=1%202 ", "POST /events {}"]);
  } finally {
    await server.stop();
  }
});
