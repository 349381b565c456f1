import { expect, it } from "vitest";
import { createEndlessResponse } from "../testkit/endless-response.ts";
import { limitResponse, MAX_RESPONSE_BYTES } from "./limit-response.ts";

it("changes nothing about a response of the maximum size", async () => {
  const body = new Uint8Array(MAX_RESPONSE_BYTES);
  const limited = limitResponse(new Response(body, { status: 418, statusText: "tea", headers: { a: "b" } }));
  expect((await limited.arrayBuffer()).byteLength).toBe(MAX_RESPONSE_BYTES);
  expect([limited.status, limited.statusText, limited.headers.get("a")]).toEqual([418, "tea", "b"]);
});

it("keeps a response without a body", () => {
  expect(limitResponse(new Response(null, { status: 204 })).status).toBe(204);
});

it("ends an endless response and stops its sender", async () => {
  const { response, sentBytes } = createEndlessResponse();
  await expect(limitResponse(response).text()).rejects.toThrow("the response is too long");
  expect(sentBytes()).toBeLessThan(2 * MAX_RESPONSE_BYTES);
});
