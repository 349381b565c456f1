import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { acquireHomeLock, HomeHeldError, readHomeHolder } from "../src/index.ts";
import { temporaryFolder } from "./support.ts";

async function holderProcess(home: string): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("children/holder.ts", import.meta.url)), home],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

test("a home has one holder, whose details are readable and are removed on release", () => {
  const home = temporaryFolder();
  expect(readHomeHolder(home)).toBeUndefined();
  const lock = acquireHomeLock(home, { details: { port: 4747 }, clock: () => 1000 });
  expect(lock.holder).toMatchObject({ pid: process.pid, since: 1000, details: { port: 4747 } });
  expect(readHomeHolder(home)).toEqual(lock.holder);
  lock.describe({ port: 4748 });
  expect(readHomeHolder(home)).toMatchObject({ details: { port: 4748 } });
  expect(() => acquireHomeLock(home)).toThrow(HomeHeldError);
  // The failed try has not taken the lock away from us.
  expect(() => acquireHomeLock(home)).toThrow(HomeHeldError);
  lock.release();
  lock.release();
  expect(readHomeHolder(home)).toBeUndefined();
  expect(fs.readdirSync(home)).toEqual(["signalbox.lock"]);
  acquireHomeLock(home).release();
});

test("an error names the holder's process, host and start", async () => {
  const home = temporaryFolder();
  const child = await holderProcess(home);
  const failure = (() => {
    try {
      return acquireHomeLock(home);
    } catch (error) {
      return error;
    }
  })();
  expect(failure).toBeInstanceOf(HomeHeldError);
  expect(failure).toMatchObject({ code: "home_held", home, pid: child.pid });
  expect(String(failure)).toContain(String(child.pid));
  expect(readHomeHolder(home)).toMatchObject({ pid: child.pid, details: { port: 1 } });
  expect(child.exitCode).toBeNull();
});

test("the lock of a killed holder is released", async () => {
  const home = temporaryFolder();
  const child = await holderProcess(home);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(fs.existsSync(join(home, "signalbox.holder.json"))).toBe(true);
  expect(readHomeHolder(home)).toBeUndefined();
  const lock = acquireHomeLock(home);
  expect(readHomeHolder(home)).toMatchObject({ pid: process.pid });
  lock.release();
});

test("a suspended holder keeps the lock", async () => {
  const home = temporaryFolder();
  const child = await holderProcess(home);
  child.kill("SIGSTOP");
  expect(() => acquireHomeLock(home)).toThrow(HomeHeldError);
});

test("a failure to write the holder file releases the lock", () => {
  const home = temporaryFolder();
  const inTheWay = join(home, "signalbox.holder.json");
  fs.mkdirSync(inTheWay);
  expect(() => acquireHomeLock(home)).toThrow();
  fs.rmdirSync(inTheWay);
  expect(fs.readdirSync(home)).toEqual(["signalbox.lock"]);
  acquireHomeLock(home).release();
});

test("an error names a home that does not exist", () => {
  const home = join(temporaryFolder(), "missing");
  expect(() => acquireHomeLock(home)).toThrow(home);
  expect(readHomeHolder(home)).toBeUndefined();
});

test("only the owner can open the lock file, even if others could before", () => {
  const home = temporaryFolder();
  const file = join(home, "signalbox.lock");
  const mode = () => (fs.statSync(file).mode & 0o777).toString(8);
  acquireHomeLock(home).release();
  expect(mode()).toBe("600");
  fs.chmodSync(file, 0o666);
  const lock = acquireHomeLock(home);
  expect(mode()).toBe("600");
  fs.chmodSync(file, 0o666);
  // Closing the file must not let the lock go that this process holds.
  expect(() => acquireHomeLock(home)).toThrow(HomeHeldError);
  expect(mode()).toBe("600");
  lock.release();
});

test.runIf(process.getuid?.() === 0)("another user cannot keep its owner out by sharing it", async () => {
  const home = temporaryFolder();
  acquireHomeLock(home).release();
  fs.chmodSync(home, 0o755);
  const script = `require("node:fs").openSync(${JSON.stringify(join(home, "signalbox.lock"))}, "r")`;
  const other = spawn(process.execPath, ["-e", script], {
    uid: 65_534,
    gid: 65_534,
    cwd: "/",
    stdio: "ignore",
  });
  const [code] = await once(other, "exit");
  expect(code).not.toBe(0);
  acquireHomeLock(home).release();
});

test.each<[string, (path: string) => void]>([
  ["holds something else", (path) => fs.writeFileSync(path, "no database ".repeat(100))],
  ["is a folder", (path) => fs.mkdirSync(path)],
])("an error names a lock that %s, with a remedy", (_, spoil) => {
  const home = temporaryFolder();
  const path = join(home, "signalbox.lock");
  spoil(path);
  for (const use of [acquireHomeLock, readHomeHolder]) {
    expect(() => use(home)).toThrow(
      expect.objectContaining({
        code: "invalid",
        message: expect.stringMatching(
          /^\/.*signalbox\.lock cannot be locked .*remove it if no gateway is running here\.$/,
        ),
      }),
    );
  }
});
