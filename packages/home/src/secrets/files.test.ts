import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSecretValues } from "./files.ts";

function open() {
  const dir = mkdtempSync(join(tmpdir(), "secret-values-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return { folder: join(dir, "secrets", "mcp"), values: openSecretValues({ dir }, "mcp") };
}

it("stores values in files that only their owner can read, and removes them", async () => {
  const { folder, values } = open();
  expect(await values.get("a/../b")).toBeUndefined();
  await values.set("a/../b", { token: "x" });
  expect(await values.get("a/../b")).toEqual({ token: "x" });
  const [file = ""] = readdirSync(folder);
  expect(readdirSync(folder)).toEqual(["a%2F..%2Fb.json"]);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await values.set("a/../b", undefined);
  expect(readdirSync(folder)).toEqual([]);
});

it("treats a damaged file as no value", async () => {
  const { folder, values } = open();
  await values.set("a", 1);
  writeFileSync(join(folder, "a.json"), "{");
  expect(await values.get("a")).toBeUndefined();
});

it("runs the work of one name one after another, and takes over the lock of a process that has ended", async () => {
  const { folder, values } = open();
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
  };
  await Promise.all([1, 2, 3].map(() => values.lock("a", work)));
  expect(most).toBe(1);
  const lock = join(folder, "a.json.lock");
  writeFileSync(lock, "");
  utimesSync(lock, 1, 1);
  expect(await values.lock("a", async () => "done")).toBe("done");
  expect(readdirSync(folder)).toEqual([]);
});
