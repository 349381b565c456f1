import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLogger, createRedactor } from "./log.ts";

describe("createRedactor", () => {
  const redact = createRedactor(["hunter2-secret", 'with "quotes"', "abc"]);

  it("takes known values out, also as they look inside JSON", () => {
    expect(redact("x hunter2-secret y")).toBe("x [redacted] y");
    expect(redact(JSON.stringify({ a: 'with "quotes"' }))).toBe('{"a":"[redacted]"}');
  });

  it("leaves very short values alone, which would hide half of every line", () => {
    expect(redact("abcdef")).toBe("abcdef");
  });

  it.each([
    "sk-ant-REDACTED",
    "Bearer abcdefghijklmnop",
    "xoxb-123456789012-abcdef",
    `AIza${"x".repeat(35)}`,
  ])("takes out what looks like a credential: %s", (text) => {
    expect(redact(`key ${text} end`)).toBe("key [redacted] end");
  });
});

describe("createLogger", () => {
  it("redacts every line it writes, fields and errors included", async () => {
    const stream = new PassThrough().setEncoding("utf8");
    let text = "";
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    const logger = createLogger("info", createRedactor(["hunter2-secret"]), stream);
    logger.info({ url: "https://x/?k=hunter2-secret" }, "called");
    logger.child({ token: "hunter2-secret" }).error(new Error("refused hunter2-secret"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(text).not.toContain("hunter2");
    expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(3);
  });
});
