import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { ScaffoldError, scaffold } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "create-channel-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const run = promisify(execFile);

describe("scaffold", () => {
  it("names everything after the channel", () => {
    const directory = join(folder, "signalbox-channel-my-chat");
    const files = scaffold({ directory, channelVersion: "^1.2.3" });
    expect(files).toContain(".gitignore");
    const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: "signalbox-channel-my-chat",
      description: "My Chat as a Signalbox channel.",
      dependencies: { "@signalbox/channel": "^1.2.3" },
    });
    expect(readFileSync(join(directory, "src", "definition.ts"), "utf8")).toContain('id: "my-chat"');
    for (const file of files)
      expect(readFileSync(join(directory, file), "utf8"), file).not.toMatch(/__[A-Z_]+__/);
  });

  it("writes no files into a non-empty folder or under an invalid name", () => {
    const taken = join(folder, "taken");
    mkdirSync(taken);
    writeFileSync(join(taken, "mine.txt"), "mine");
    expect(() => scaffold({ directory: taken })).toThrow(ScaffoldError);
    writeFileSync(join(folder, "a-file"), "mine");
    expect(() => scaffold({ directory: join(folder, "a-file") })).toThrow(ScaffoldError);
    expect(() => scaffold({ directory: join(folder, "Wrong Name") })).toThrow(/--id/);
    expect(() => scaffold({ directory: join(folder, "x"), packageName: "../x" })).toThrow(/--package/);
    expect(readFileSync(join(taken, "mine.txt"), "utf8")).toBe("mine");
  });

  it("is a program that says what to do next", async () => {
    const { stdout } = await run(process.execPath, [main, "chat", "--package", "@me/chat"], { cwd: folder });
    expect(stdout).toContain("cd chat\n  npm install");
    await expect(run(process.execPath, [main, "chat"], { cwd: folder })).rejects.toMatchObject({
      code: 64,
      stderr: expect.stringContaining("is not empty"),
    });
    const { stdout: usage } = await run(process.execPath, [main, "--help"]);
    expect(usage).toContain("npm create @signalbox/channel <folder> -- [--id <id>] [--package <name>]");
    await expect(run(process.execPath, [main, "--nope"], { cwd: folder })).rejects.toMatchObject({
      code: 64,
    });
  });
});
