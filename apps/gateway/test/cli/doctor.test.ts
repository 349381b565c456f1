import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireHomeLock, openStore } from "@signalbox/store";
import { startS3 } from "@signalbox/testkit/s3";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { hostThatPrepares, hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "signalbox-doctor-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

const doctor = (...words: string[]) => runCommand(hostThatPrepares(home), "doctor", "--home", home, ...words);

it("closes what others could read where it is told to fix, and only then", async () => {
  const file = join(home, "token");
  writeFileSync(file, "a token of sixteen characters\n");
  chmodSync(file, 0o644);
  const looked = await doctor();
  expect(looked.out).toMatch(
    /^warning permissions: others can read .*token \(644\)\n +Close them with `signalbox doctor --fix`/m,
  );
  expect((statSync(file).mode & 0o777).toString(8)).toBe("644");
  expect((await doctor("--fix")).out).toMatch(/^ok +permissions: .*closed 1 of them$/m);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  expect((await doctor()).out).not.toContain("permissions");
});

it("says whose environment it sees where no gateway runs, and who holds the home where one does not answer", async () => {
  expect((await doctor()).out).toContain(
    "gateway: not running on this home; keys and variables were read from this shell\n",
  );
  expect((await doctor("--models")).out).toContain("read from this shell; no model was called\n");
  const lock = acquireHomeLock(home);
  onTestFinished(() => lock.release());
  expect((await doctor()).out).toMatch(
    /^error {3}gateway: process \d+ is using this home but does not respond\n +Wait until it has started/m,
  );
});

it("sees a clock that went back behind what was written", async () => {
  const file = join(home, "signalbox.db");
  await (await openStore({ path: file })).close();
  const tomorrow = new Date(Date.now() + 86_400_000);
  utimesSync(file, tomorrow, tomorrow);
  expect((await doctor()).out).toMatch(/^warning clock: .*the database was last written at/m);
});

it("ends with 1 where something would keep a gateway from working, and says what to do", async () => {
  writeFileSync(join(home, "signalbox.db"), "no database");
  const { out, code } = await doctor();
  expect(code).toBe(1);
  expect(out).toMatch(
    /^error +database: .*\n +No backup is known\. Stop the gateway and move .*signalbox\.db/m,
  );
});

it("--json has each finding with its remedy", async () => {
  const findings: unknown = JSON.parse((await doctor("--json")).out);
  expect(findings).toContainEqual(expect.objectContaining({ part: "node", state: "ok" }));
  const policy = {
    part: "policy",
    state: "ok",
    detail: expect.stringContaining("guests can neither run commands"),
  };
  expect(findings).toContainEqual(expect.objectContaining(policy));
});

it("says everything else, too, where the configuration cannot be read at all", async () => {
  writeFileSync(join(home, "signalbox.yaml"), "gateway: { port: banana }\n");
  const lock = acquireHomeLock(home);
  onTestFinished(() => lock.release());
  lock.describe({ url: "http://127.0.0.1:1" });
  const { out, code } = await doctor();
  expect(code).toBe(1);
  expect(out).toMatch(/^ok +node: /m);
  expect(out).toMatch(
    /^warning gateway: process \d+ is using this home with the configuration it last read/m,
  );
  expect(out).toMatch(/^error +configuration: .*gateway.port/m);
});

it("misses a backup once a week has gone by, and knows the last one", async () => {
  await (await openStore({ path: join(home, "signalbox.db") })).close();
  expect((await doctor()).out).toMatch(/^ok +backup: none has been made here$/m);
  const copies = mkdtempSync(join(tmpdir(), "signalbox-copies-"));
  onTestFinished(() => rmSync(copies, { recursive: true, force: true }));
  const folder = join(copies, "monday");
  expect((await runCommand(hostWith(), "backup", "--home", home, folder)).code).toBe(0);
  expect((await doctor()).out).toContain(`backup: the latest is 0 days old, in ${folder}`);
  const note = { path: folder, at: Date.now() - 8 * 86_400_000 };
  writeFileSync(join(home, "last-backup.json"), JSON.stringify(note));
  expect((await doctor()).out).toMatch(
    /^warning backup: the latest is 8 days old.*\n +Make one with `signalbox backup <folder>`/m,
  );
});

it("has a word for a backup into a folder that is not there", async () => {
  const { err, code } = await runCommand(
    hostWith(),
    "backup",
    "--home",
    home,
    join(home, "nowhere", "monday"),
  );
  expect(code).toBe(73);
  expect(err).toContain(`The folder ${join(home, "nowhere")} does not exist.`);
});

it("says everything else, too, where a table of the database is damaged", async () => {
  const file = join(home, "signalbox.db");
  const store = await openStore({ path: file });
  const size = statSync(file).size;
  await store.kv.set("prompt-drift", "agent:main", "x".repeat(2 * size));
  await store.close();
  writeFileSync(file, readFileSync(file).fill(0xff, size + 4096));
  const { out, code } = await doctor();
  expect(code).toBe(1);
  expect(out).toMatch(/^error +database: .*damaged/m);
  expect(out).toMatch(/^ok +policy: /m);
});

it("tries to store and read a file in the bucket of the configuration", async () => {
  const s3 = await startS3();
  onTestFinished(() => s3.stop());
  const { bucket, region, url: endpoint, accessKeyId, secretAccessKey } = s3;
  const configure = (changed: object): void => {
    const access = { bucket, region, endpoint, accessKeyId, secretAccessKey, pathStyle: true, ...changed };
    const store = { url: "postgres://127.0.0.1:1/signalbox", blobs: { s3: access } };
    writeFileSync(join(home, "signalbox.yaml"), JSON.stringify({ store }));
  };
  configure({});
  expect((await doctor()).out).toMatch(/^ok +files: the bucket files can be listed, read and written$/m);
  expect(s3.keys()).toEqual([]);
  configure({ secretAccessKey: "wrong-secret-access-key" });
  const { out, code } = await doctor();
  expect(code).toBe(1);
  expect(out).toMatch(/^error +files: SignatureDoesNotMatch.*\n +Check `store.blobs.s3`/m);
});
