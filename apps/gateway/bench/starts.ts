import { setTimeout as sleep } from "node:timers/promises";
import { startFloor, startProcess } from "./gateway-process.ts";
import { one, row, spread } from "./report.ts";
import type { Setup } from "./setup.ts";

const STARTS = 7;
/** By then everything is loaded, and what that needed for the moment is given back. */
const IDLE_MS = 8_000;
const FLOOR = "bare node:http server";

/** How long a start takes, and what an idle gateway holds. */
export async function measureStarts({ home, port }: Setup): Promise<void> {
  const program = `require('http').createServer((q,s)=>s.end()).listen(${port + 1})`;
  const bareUrl = `http://127.0.0.1:${port + 1}/`;
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < STARTS + 1; round++) {
    const gateway = await startProcess(home, port);
    const bare = await startFloor(program, bareUrl);
    // The first start fills the disk cache and the compile cache.
    if (round > 0) {
      ours.push(gateway.readyMs);
      floor.push(bare.readyMs);
    }
    await Promise.all([gateway.stop(), bare.stop()]);
  }
  row({
    name: "process start to /readyz, ms",
    ours: spread(ours),
    floor: { name: FLOOR, value: spread(floor) },
    marks: [{ atMost: 600 }],
  });

  const gateway = await startProcess(home, port);
  const bare = await startFloor(program, bareUrl);
  await sleep(IDLE_MS);
  row({
    name: "resident memory at idle, MB",
    ours: one(gateway.rss() / 1e6),
    floor: { name: FLOOR, value: one(bare.rss / 1e6) },
    marks: [{ atMost: 130 }],
  });
  await Promise.all([gateway.stop(), bare.stop()]);
}
