import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { openClientFiles } from "../../src/configure/client-files.ts";

it("says once that what requests hold cannot be kept, where, and what to do about it", async () => {
  const mediaDir = mkdtempSync(join(tmpdir(), "client-files-"));
  onTestFinished(() => rmSync(mediaDir, { recursive: true }));
  const dir = join(mediaDir, "carried");
  const warn = vi.fn();
  const { carried } = openClientFiles({ mediaDir }, { logger: { warn }, now: Date.now });
  const add = (id: string) => carried.add({ owner: "m", id, at: 0, bytes: new Uint8Array(3) });
  writeFileSync(dir, "in the way");
  await expect(add("the-first-of-them")).rejects.toThrow();
  await expect(add("the-second-of-them")).rejects.toThrow();
  expect(warn).toHaveBeenCalledOnce();
  expect(warn.mock.lastCall?.[1]).toContain(`${dir} cannot be written: check that the gateway may write`);
  rmSync(dir);
  expect((await add("the-third-of-them")).kind).toBe("added");
  rmSync(dir, { recursive: true });
  writeFileSync(dir, "in the way");
  await expect(add("the-fourth-of-them")).rejects.toThrow();
  expect(warn).toHaveBeenCalledTimes(2);
});
