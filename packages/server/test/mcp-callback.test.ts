import { expect, it } from "vitest";
import { openServer } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

it("answers the browser that comes back from a sign-in, and shows no markup of others", async () => {
  const { url } = await openServer(createMemoryService());
  const headers = { "sec-fetch-site": "cross-site" };
  const right = await fetch(`${url}/oauth/mcp/callback?state=right&code=x`, { headers });
  expect(right.status).toBe(200);
  expect(await right.text()).toContain("Signed in to tickets.");
  expect(Object.fromEntries(right.headers)).toMatchObject({
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  });
  const wrong = await fetch(`${url}/oauth/mcp/callback?state=wrong`, { headers });
  expect(wrong.status).toBe(400);
  expect(await wrong.text()).toContain("&lt;b&gt;unknown");
});
