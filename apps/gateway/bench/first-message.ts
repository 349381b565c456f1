import { setTimeout as sleep } from "node:timers/promises";
import { type GatewayProcess, startProcess } from "./gateway-process.ts";
import { row, spread } from "./report.ts";
import type { Setup } from "./setup.ts";
import { CompletionsSurface, FeishuSurface, type Surface } from "./surfaces.ts";

const STARTS = 7;
const LATER = 15;
/** How long a started gateway has been left alone, in milliseconds. */
const IDLE_MS = 3_000;

/** What the first message after a start costs, beside the later ones of the same process. */
export async function measureFirstMessage(setup: Setup): Promise<void> {
  const { home, port, feishu, verificationToken } = setup;
  const surfaces: readonly ((gateway: GatewayProcess) => Surface)[] = [
    (gateway) => new FeishuSurface(gateway, feishu, verificationToken),
    (gateway) => new CompletionsSurface(gateway),
  ];
  for (const surfaceOf of surfaces) {
    const first: number[] = [];
    const later: number[] = [];
    let name = "";
    for (let start = 0; start <= STARTS; start++) {
      const gateway = await startProcess(home, port);
      await sleep(IDLE_MS);
      const surface = surfaceOf(gateway);
      name = surface.name;
      for (let i = 0; i < LATER; i++) {
        const { sentAt, repliedAt } = await surface.exchange(
          `first-${start}`,
          `first-${name.length}-${start}-${i}`,
        );
        // The first start fills the disk cache and the compile cache.
        if (start > 0) (i === 0 ? first : later).push(repliedAt - sentAt);
      }
      await gateway.stop();
    }
    const usual = spread(later);
    row({
      name: `${name}, first message after a start, ms`,
      ours: spread(first),
      floor: { name: "a later one", value: usual },
      marks: [{ atMost: 2 * usual.median }],
    });
  }
}
