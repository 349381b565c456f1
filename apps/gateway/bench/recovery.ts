import { startProcess } from "./gateway-process.ts";
import { now, row, spread } from "./report.ts";
import type { Setup } from "./setup.ts";
import { FeishuSurface } from "./surfaces.ts";

const ROUNDS = 7;

/** How soon after a `kill -9` and a restart an interrupted message goes on: from the start of the process. */
export async function measureRecovery(setup: Setup): Promise<void> {
  const { home, port, model, feishu, verificationToken } = setup;
  const goesOn: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const killed = await startProcess(home, port);
    model.manner = { kind: "hang" };
    const before = model.turns.length;
    const surface = new FeishuSurface(killed, feishu, verificationToken);
    await surface.post("crash", `crash-${round}`).answered;
    while (model.turns.length === before) await new Promise(setImmediate);
    await killed.kill();
    model.manner = { kind: "text" };
    const seen = model.turns.length;
    const startedAt = now();
    const restarted = startProcess(home, port);
    while (model.turns.length === seen) await new Promise((resolve) => setTimeout(resolve, 1));
    goesOn.push((model.turns[seen]?.seenAt ?? Number.NaN) - startedAt);
    await (await restarted).stop();
  }
  row({
    name: "start after SIGKILL to the message going on, ms",
    ours: spread(goesOn),
    marks: [{ atMost: 1_500, of: "p99" }],
  });
}
