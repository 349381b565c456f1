import { PassThrough } from "node:stream";
import { createRedactor } from "@signalbox/redaction";
import { describe, expect, it } from "vitest";
import { createLogger } from "./log.ts";

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
