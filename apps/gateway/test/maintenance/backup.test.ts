import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { locateHome } from "@signalbox/home";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  inStore,
  openWorld,
  type World,
  ZHANG,
} from "../support/harness.ts";

const REPORT = Buffer.from("a,b\n1,2\n");
const ID = createHash("sha256").update(REPORT).digest("hex");

/** A gateway whose one reply, with an attachment, cannot go out yet. */
async function withUnsent(world: World) {
  world.configure(exampleConfig());
  mkdirSync(world.home.workspace("coder"), { recursive: true });
  writeFileSync(join(world.home.workspace("coder"), "report.csv"), REPORT);
  world.script((_, index) => ({ text: index === 0 ? "Here it is.\nMEDIA:report.csv" : "Good morning." }));
  world.feishu.fail({ kind: "status", status: 503, method: "POST", path: "/im/v1/", times: 1_000 });
  const started = await world.startChild();
  await started.post(textMessage("send the report", { senderId: ZHANG, messageId: "om_asked" }));
  await eventually(async () => {
    const [row] = await inboxRows(world);
    return row?.state === "replied";
  }, "the message is answered");
  return started;
}

it("a backup taken from a running gateway is a home that sends what was unsent, attachments too", async () => {
  const world = await openWorld();
  const started = await withUnsent(world);
  // Bytes that nothing needs, and a name that leads elsewhere.
  writeFileSync(join(world.home.mediaDir, "f".repeat(64)), "sent long ago");
  const folder = join(world.dir, "saved");
  const backup = await world.command(["backup", folder, "--json"]);
  expect(backup.code, backup.err).toBe(0);
  expect(JSON.parse(backup.out)).toMatchObject({
    path: folder,
    media: { files: 1, bytes: REPORT.length },
    missing: [],
  });
  const entries = ["backup.json", "media", "signalbox.db", "signalbox.yaml", "workspaces"];
  expect(readdirSync(folder).sort()).toEqual(entries);
  expect(readdirSync(join(folder, "media"))).toEqual([ID]);
  for (const name of ["", "media"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700);
  for (const name of ["signalbox.db", `media/${ID}`])
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(readdirSync(world.dir).filter((name) => name.includes("part"))).toEqual([]);
  expect(await world.command(["backup", folder])).toMatchObject({
    code: 73,
    err: expect.stringContaining("exists"),
  });

  // What comes after the backup is not in it: the platform still has it.
  await started.post(textMessage("good morning", { senderId: ZHANG, messageId: "om_later" }));
  await started.end("SIGKILL");
  expect(world.feishu.sent).toEqual([]);
  world.feishu.heal();
  const home = locateHome(join(world.dir, "restored"), world.env);
  mkdirSync(home.dir);
  cpSync(folder, home.dir, { recursive: true });
  copyFileSync(world.home.configFile, home.configFile);
  const restored: World = { ...world, home };
  const second = await restored.startChild(["--home", home.dir]);
  await eventually(() => world.feishu.sent.length === 3, "the replies and the attachment go out");
  const [, file] = world.feishu.sent;
  expect(file && Buffer.from(world.feishu.upload(file)?.content ?? []).toString()).toBe(REPORT.toString());
  const rows = await inboxRows(restored);
  expect(rows.map(({ messageId }) => messageId)).toEqual(["om_asked", "om_later"]);
  await second.end("SIGTERM");
});

it("a backup leaves nothing behind where it fails, and says what is lost already", async () => {
  const world = await openWorld();
  await withUnsent(world);
  const nowhere = await world.command(["backup", join(world.dir, "no", "such", "saved")]);
  expect(nowhere.code).toBe(73);
  writeFileSync(join(world.home.mediaDir, ID), "something else");
  const folder = join(world.dir, "saved");
  const backup = await world.command(["backup", folder]);
  expect(backup.code, backup.err).toBe(0);
  expect(backup.out).toContain(`Attachment ${ID} of an undelivered reply is no longer kept.`);
  expect(readdirSync(join(folder, "media"))).toEqual([]);
  expect(readFileSync(join(folder, "signalbox.db")).subarray(0, 6).toString()).toBe("SQLite");
  expect(readdirSync(world.dir).filter((name) => name.includes("part"))).toEqual([]);
});

/** A home with a database that takes a while to copy. */
async function withMuch(world: World): Promise<void> {
  world.configure(exampleConfig());
  await inStore(world, async (store) => {
    const long = "x".repeat(100_000);
    for (let i = 0; i < 1_000; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, k) => store.kv.set("filler", String(i + k), long)));
  });
}

it("a backup that is broken off leaves nothing behind", async () => {
  const world = await openWorld();
  await withMuch(world);
  const parts = () => readdirSync(world.dir).filter((name) => name.endsWith(".part"));
  const saved = join(world.dir, "saved");
  let code: number | null;
  do {
    // On a busy machine the earlier one may have ended before the signal came.
    rmSync(saved, { recursive: true, force: true });
    const backup = world.run(["backup", saved]);
    let hasEnded = false;
    void backup.exited.then(() => {
      hasEnded = true;
    });
    await eventually(() => hasEnded || parts().length === 1, "the backup has begun");
    backup.process.kill("SIGTERM");
    ({ code } = await backup.exited);
  } while (code === 0);
  expect(code).toBe(130);
  expect(readdirSync(world.dir)).toEqual(["home"]);
});

it("a backup that does not fit leaves nothing behind", async ({ skip }) => {
  const world = await openWorld();
  await withMuch(world);
  const disk = join(world.dir, "disk");
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], { encoding: "utf8" });
  if (mounted.status !== 0) {
    const why = mounted.error?.message ?? mounted.stderr.trim();
    console.log(`no disk was filled: a small tmpfs cannot be mounted here (${why})`);
    return skip(why);
  }
  try {
    const backup = await world.command(["backup", join(disk, "saved")]);
    expect(backup.code).toBe(73);
    expect(backup.err).toContain("no space left");
    expect(readdirSync(disk)).toEqual([]);
  } finally {
    spawnSync("umount", [disk]);
  }
});
