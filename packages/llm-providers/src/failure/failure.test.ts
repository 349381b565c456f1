import { describe, expect, it } from "vitest";
import { classify, classifyException, describeRefusal, getRetryAfterMs } from "./failure.ts";

describe("classifying a failure", () => {
  it.each([
    [{ message: "x", status: 401 }, "auth", "key", false],
    [{ message: "x", status: 402 }, "billing", "key", false],
    [{ message: "x", status: 429 }, "rate_limit", "key", true],
    [{ message: "You exceeded your current quota", status: 429 }, "billing", "key", false],
    [{ message: "You exceeded your current quota", status: 429, retryAfterMs: 1 }, "rate_limit", "key", true],
    [{ message: "x", status: 429, words: ["insufficient_quota"] }, "billing", "key", false],
    [{ message: "x", status: 529, words: ["overloaded_error"] }, "overloaded", "model", true],
    [{ message: "x", status: 500 }, "overloaded", "model", true],
    [{ message: "x", status: 504 }, "timeout", "provider", true],
    [{ message: "x", status: 413 }, "overflow", "model", false],
    [{ message: "x", status: 400, words: ["context_length_exceeded"] }, "overflow", "model", false],
    [
      { message: "This model's maximum context length is 8192 tokens", status: 400 },
      "overflow",
      "model",
      false,
    ],
    [{ message: "x", status: 404 }, "invalid", "model", false],
    [
      {
        message:
          "Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 71 instead.",
        status: 400,
        words: ["string_above_max_length", "invalid_request_error"],
      },
      "invalid",
      "model",
      false,
    ],
    [{ message: "x", words: ["content_filter"] }, "filter", "model", false],
    [{ message: "x" }, "protocol", "provider", true],
  ] as const)("%j is %s", (facts, code, scope, retryable) => {
    expect(classify(facts)).toMatchObject({ code, scope, retryable });
  });

  it("trusts structured fields over wording", () => {
    expect(classify({ message: "prompt is too long", status: 429, words: ["rate_limit_error"] }).code).toBe(
      "rate_limit",
    );
    expect(classify({ message: "billing", status: 401, words: ["authentication_error"] }).code).toBe("auth");
  });

  it("finds a connection's error along its causes", () => {
    const cause = Object.assign(new Error("read"), { code: "ECONNRESET" });
    expect(
      classifyException(new Error("Connection error.", { cause: new TypeError("fetch failed", { cause }) }))
        .code,
    ).toBe("network");
    expect(classifyException(Object.assign(new Error("slow"), { code: "ETIMEDOUT" })).code).toBe("timeout");
    expect(classifyException(new TypeError("terminated")).code).toBe("network");
    expect(classifyException(new SyntaxError("bad JSON")).code).toBe("protocol");
    expect(classifyException("odd")).toMatchObject({
      code: "protocol",
      message: "The answer could not be read: odd",
    });
  });

  it.each([
    ["ERR_HTTP_INVALID_HEADER_VALUE", "invalid"],
    ["ERR_INVALID_URL", "invalid"],
    ["ERR_TLS_INVALID_PROTOCOL_VERSION", "invalid"],
    ["ERR_SOCKET_BAD_PORT", "invalid"],
    ["UND_ERR_INVALID_ARG", "invalid"],
    ["ERR_MODULE_NOT_FOUND", "invalid"],
    ["ERR_HTTP2_INVALID_SESSION", "network"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "network"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "network"],
    ["ERR_STREAM_PREMATURE_CLOSE", "network"],
    ["HPE_INVALID_CONSTANT", "network"],
    ["UND_ERR_SOCKET", "network"],
  ])("takes the exception %s for %s", (code, expected) => {
    expect(classifyException(Object.assign(new Error("x"), { code })).code).toBe(expected);
  });

  it.each([
    [
      "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>",
      "502 Bad Gateway",
    ],
    ["<!DOCTYPE html>\n<html><body><p>Back\n soon</p></body></html>", "502 Back soon"],
    ["<html></html>", "502 an empty page"],
    ["upstream <html> is no page", "502 upstream <html> is no page"],
    ["", "502 (empty body)"],
  ])("says of the answer %j what a person can read", (body, said) => {
    const refusal = { status: 502, headers: new Headers() };
    expect(classify(describeRefusal(refusal, body, 0)).message).toBe(said);
  });

  it("says no more of a page that a vendor quotes", () => {
    expect(classify({ message: "<html><title>Bad Gateway</title></html>", status: 502 }).message).toBe(
      "Bad Gateway",
    );
  });

  it("reads retry-after in seconds, milliseconds and as a date", () => {
    const at = (headers: Record<string, string>, now = 0) => getRetryAfterMs(new Headers(headers), now);
    expect(at({ "retry-after": "7" })).toBe(7_000);
    expect(at({ "retry-after": "0.25" })).toBe(250);
    expect(at({ "retry-after-ms": "120", "retry-after": "7" })).toBe(120);
    expect(at({ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 4_000)).toBe(6_000);
    expect(at({ "retry-after": "-1" })).toBeUndefined();
    expect(at({ "retry-after": "soon" })).toBeUndefined();
    expect(at({})).toBeUndefined();
  });
});
