import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readRefusal, runningGateway } from "../../../src/cli/running.ts";
import { check } from "./check.ts";
import { seeded } from "./random.ts";
import { openWorld } from "./world.ts";

const SIZE_MB = 32;
/** A file grows as fast as messages are answered, which a busy machine does slowly. */
const LONGEST_MS = 600_000;
/** Messages that are taken before anything happens to the disk. */
const SOME = 5;

/** A file system of its own for as long as the test runs; what keeps it from being made is told. */
function mountSmallDisk(): { readonly folder: string; unmount(): void } | string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-disk-"));
  const { status, stderr, error } = spawnSync(
    "mount",
    ["-t", "tmpfs", "-o", `size=${SIZE_MB}m`, "tmpfs", folder],
    { encoding: "utf8" },
  );
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    return (error?.message ?? stderr).trim();
  }
  return {
    folder,
    unmount() {
      spawnSync("umount", [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Beyond what there is already; some messages' worth. */
const ROOM_BYTES = 96 << 10;

it("loses nothing if its files reach a size limit, and continues when the limit is lifted", {
  timeout: LONGEST_MS,
}, async () => {
  const world = await openWorld({ random: seeded(9), sessions: 6, faults: false });
  try {
    const first = world.start();
    await first.listening;
    await expect.poll(() => world.platform.acknowledged.length).toBeGreaterThan(SOME);
    first.signal("SIGTERM");
    await first.exited;
    const files = readdirSync(world.home).filter((name) => name.startsWith("signalbox.db"));
    const longest = Math.max(...files.map((name) => statSync(join(world.home, name)).size));
    const before = world.platform.acknowledged.length;
    const limited = world.start({}, { fileBytes: longest + ROOM_BYTES });
    await expect.poll(limited.said, { timeout: LONGEST_MS / 2 }).toContain("disk I/O error");
    // It ends by itself: the file that it cannot write to is its database.
    await limited.exited;
    const during = world.platform.acknowledged.length;
    console.log(
      `messages acknowledged before no file could grow, and until none could: ${before}, ${during}`,
    );
    await world.settle(world.start());
    const verdict = await check(world);
    expect(verdict.violations).toEqual([]);
  } finally {
    await world.close();
  }
});

it("rejects messages while its disk is full, and continues when there is space", {
  timeout: LONGEST_MS,
}, async ({ skip }) => {
  const disk = mountSmallDisk();
  if (typeof disk === "string") {
    console.log(`no disk was filled: a small tmpfs cannot be mounted here (${disk})`);
    return skip(disk);
  }
  try {
    // A sandbox lets no command run while the disk is full, which is right, and not what is looked at here.
    const world = await openWorld({ random: seeded(9), sessions: 6, within: disk.folder, sandbox: false });
    try {
      const gateway = world.start();
      await gateway.listening;
      await expect.poll(() => world.platform.acknowledged.length).toBeGreaterThan(SOME);
      // A server of tools that could not begin would be missed by the runs that begin with it.
      await expect.poll(() => world.feishu.sent.length).toBeGreaterThan(0);
      const before = world.platform.acknowledged.length;
      const filler = join(disk.folder, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(SIZE_MB << 20))).toThrow(/ENOSPC/);
      await expect.poll(() => gateway.said()).toContain("no space left");
      const { running } = await runningGateway(world.home);
      await expect.poll(() => readRefusal(running)).toBe("its disk is full");
      const during = world.platform.acknowledged.length;
      rmSync(filler);
      await expect.poll(() => world.platform.acknowledged.length).toBeGreaterThan(during);
      const after = world.platform.acknowledged.length;
      console.log(
        `messages acknowledged before, while and after the disk was full: ${before}, ${during}, ${after}`,
      );
      await world.settle(gateway);
      const verdict = await check(world);
      expect(verdict.violations).toEqual([]);
    } finally {
      await world.close();
    }
  } finally {
    disk.unmount();
  }
});
