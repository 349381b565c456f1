import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { check } from "./check.ts";
import { seeded } from "./random.ts";
import { openWorld } from "./world.ts";

const SIZE_MB = 32;

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

it("refuses what it cannot keep while its disk is full, and goes on once there is space", {
  timeout: 120_000,
}, async ({ skip }) => {
  const disk = mountSmallDisk();
  if (typeof disk === "string") {
    console.log(`no disk was filled: a small tmpfs cannot be mounted here (${disk})`);
    return skip(disk);
  }
  try {
    const world = await openWorld({ random: seeded(9), sessions: 6, within: disk.folder });
    try {
      const gateway = world.start();
      await gateway.listening;
      await sleep(700);
      const before = world.platform.acknowledged.length;
      const filler = join(disk.folder, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(SIZE_MB << 20))).toThrow(/ENOSPC/);
      await sleep(1_500);
      const during = world.platform.acknowledged.length;
      rmSync(filler);
      await sleep(2_500);
      const after = world.platform.acknowledged.length;
      console.log(
        `messages acknowledged before, while and after the disk was full: ${before}, ${during}, ${after}`,
      );
      expect(gateway.said()).toContain("No space left");
      expect(after).toBeGreaterThan(during);
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
