import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createRedactor } from "@signalbox/redaction";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLogFile, createLogger, serviceLogger } from "./index.ts";

describe("createLogger", () => {
  it("redacts every line, including fields and errors", async () => {
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

  it("escapes control characters, line separators and direction marks", () => {
    const lines: string[] = [];
    const logger = createLogger("info", (text) => text, { write: (line) => void lines.push(line) });
    const session = "agent:main\u009b31m\u202e\u2028\u{e0041}\r\nforged";
    logger.info({ session }, "a run \u0085began");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ session, msg: "a run \u0085began" });
  });
});

it("serviceLogger writes to a file that only its owner can read", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "logs", "gateway.log");
  const target = createLogFile(file);
  serviceLogger("warn", createRedactor(["hunter2-secret"]), target).warn(
    { key: "hunter2-secret" },
    "refused",
  );
  await target.close();
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    level: "warn",
    key: "[redacted]",
    msg: "refused",
  });
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
});

describe("createLogFile", () => {
  function folder(): string {
    const dir = mkdtempSync(join(tmpdir(), "signalbox-log-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return dir;
  }

  it("ignores a folder that cannot be created, and writes once it can be", async () => {
    const dir = folder();
    writeFileSync(join(dir, "logs"), "in the way");
    const target = createLogFile(join(dir, "logs", "gateway.log"));
    target.write("one\n");
    rmSync(join(dir, "logs"));
    target.write("two\n");
    await target.close();
    expect(readFileSync(join(dir, "logs", "gateway.log"), "utf8")).toBe("two\n");
  });

  it("is written again after a failure", async () => {
    const file = join(folder(), "gateway.log");
    mkdirSync(file);
    const target = createLogFile(file);
    let looks = 0;
    await expect
      .poll(() => {
        target.write("kept\n");
        looks += 1;
        if (looks === 5) rmdirSync(file);
        return statSync(file, { throwIfNoEntry: false })?.isFile();
      })
      .toBe(true);
    await target.close();
    expect(readFileSync(file, "utf8")).toContain("kept\n");
  });
});
