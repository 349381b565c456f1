import { expect, it } from "vitest";
import { trackRequests } from "../host/request-phase.ts";
import { serveWebhook } from "../testkit/serve-webhook.ts";
import { describeFailedRequest } from "./describe-failed-request.ts";

const withCode = (code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });

it.each([
  [withCode("ENOTFOUND"), "the name cannot be resolved (ENOTFOUND)"],
  [new DOMException("x", "TimeoutError"), "no response in time"],
  [withCode("CERT_HAS_EXPIRED"), "no secure connection (CERT_HAS_EXPIRED)"],
  [
    new TypeError("fetch failed", {
      cause: new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]),
    }),
    "the connection is refused (ECONNREFUSED)",
  ],
  [new Error("https://api.example/secret"), undefined],
  ["https://api.example/secret", undefined],
])("describes a failed request by its code only: %s", (error, expected) => {
  expect(describeFailedRequest(error)).toBe(expected);
});

it("finds the cause of a request that was certainly not sent", async () => {
  const { url, stop } = await serveWebhook({});
  await stop();
  const error: unknown = await trackRequests(globalThis.fetch)(url).catch((reason: unknown) => reason);
  expect(describeFailedRequest(error)).toBe("the connection is refused (ECONNREFUSED)");
});
