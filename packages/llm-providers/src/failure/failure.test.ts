import { describe, expect, it } from "vitest";
import { classify, classifyException, describeRefusal, getRetryAfterMs, isWordless } from "./failure.ts";

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

  it.each([
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Your request exceeded model token limit: 262144",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "prompt token count of 135355 exceeds the limit of 128000",
    "Prompt exceeds max length",
    "length of prompt_tokens (38000) must be less than max_seq_len (32768).",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
    "too many tokens: total tokens exceeds the model's max of 4096",
    "Input exceeds the max input token limit",
    "Total tokens of image and text exceed max message tokens",
    "input tokens exceed the maximum limit of 28000",
    "the length of messages is too long",
    "prompt is too long: 213000 tokens > 200000 maximum",
    "the request exceeds the available context size, try increasing it",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Please reduce the length of the messages or completion.",
    "Requested token count exceeds the model's maximum context length of 32768 tokens.",
    "输入内容超过模型上下文长度限制",
    "Input too long.",
    "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "Malformed input request: expected maxLength: 500000, actual: 600000, please reformat your input and try again.",
    "max tokens of 4096 exceeded",
    "Token limit exceeded",
    "TokenSize exceeds limit, max 8192",
    "The prompt is 9000 tokens long, which is longer than the model's limit",
    "Prompt length 5000 is greater than the max of 4096",
    "The sum of prompt length (9000), query length (0) should not exceed max_num_tokens (8192)",
    "the max input characters is 24000",
    "The conversation history is too long, please shorten it",
    "Prompt 超长",
    "tokens数量超过最大限制",
    "消息内容过长",
    "number of input tokens must be no more than 32000, got 40000",
    "The total number of tokens in the messages is above the limit of 8192",
    "Prompt must be shorter than 8000 tokens",
    "Sum of prompt and max_new_tokens must be <= 4096, got 5000",
    "Requested 130000 tokens but the model only supports 128000",
    "ContextWindowExceededError",
    "Not enough context left: n_ctx = 4096",
    "input_tokens 130001 out of range [1, 129024]",
    "The sequence length of 9000 is longer than the model's 8192",
    "9000 tokens do not fit in the window of 8192",
    "exceeded maximum number of input tokens",
    "messages 总长度不能超过 32000",
    "最大上下文长度为 8192，当前请求 9000",
  ])("recognizes a prompt that is too long: %s", (message) => {
    expect(classify({ message, status: 400, words: ["invalid_request_error"] }).code).toBe("overflow");
    expect(classify({ message, status: 500 }).code).toBe("overflow");
  });

  it.each([
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead.",
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "tools.0.custom.description: String should have at most 1024 characters",
    "temperature: Input should be less than or equal to 1",
    "Invalid schema for function 'x': schema must be a JSON Schema of 'type: \"object\"'",
    "`max_tokens` must be less than or equal to `8192`",
    "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-sonnet",
    "Logprobs are not enabled for this model",
    "Your API token rate limit was exceeded: 30 requests per minute",
    "Daily token quota exceeded",
    "Invalid 'messages[3].tool_calls[0].id': string too long. Expected maximum length 40",
    "tool_call_id is longer than 9 characters",
    "The image is too large: at most 20 MB are allowed",
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead.",
  ])("does not take another invalid request for a prompt that is too long: %s", (message) => {
    expect(classify({ message, status: 400, words: ["invalid_request_error"] }).code).toBe("invalid");
  });

  it("trusts structured fields over wording", () => {
    expect(classify({ message: "prompt is too long", status: 429, words: ["rate_limit_error"] }).code).toBe(
      "rate_limit",
    );
    expect(classify({ message: "billing", status: 401, words: ["authentication_error"] }).code).toBe("auth");
  });

  it("finds a connection error in the cause chain", () => {
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
      message: "The response could not be read: odd",
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
  ])("classifies an exception with the code %s as %s", (code, expected) => {
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
  ])("summarizes the error body %j for people", (body, said) => {
    const refusal = { status: 502, headers: new Headers() };
    expect(classify(describeRefusal(refusal, body, 0)).message).toBe(said);
  });

  it("shortens a page in an error message to its title", () => {
    expect(classify({ message: "<html><title>Bad Gateway</title></html>", status: 502 }).message).toBe(
      "Bad Gateway",
    );
  });

  it("reads retry-after in seconds, in milliseconds and as a date", () => {
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

it.each(["<", "<title", "a", "exceed", "image ", "thinking "])(
  "reads a long refusal of %j quickly",
  (words) => {
    const text = words.repeat(200_000 / words.length);
    const { user } = process.cpuUsage();
    const { message } = classify({ message: text, status: 400 });
    describeRefusal(new Response(null, { status: 400 }), `<html>${text}`, 0);
    isWordless(text);
    // In microseconds. A search for the rest after each word takes some seconds.
    expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
    expect(message.length).toBeLessThanOrEqual(10_000);
  },
);
