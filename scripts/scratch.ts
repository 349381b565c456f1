// Where suites write what is gone when they end: in memory, where there is room for it. To make and remove thousands of
// small files on a disk takes a tenth of their processor time.
import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";

export const SCRATCH: string = hasRoom(MEMORY) ? MEMORY : tmpdir();

/** Whether something can be written there, and a gigabyte of it. */
function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 2 ** 30;
  } catch {
    return false;
  }
}
