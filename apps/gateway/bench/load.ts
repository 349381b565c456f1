import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "./gateway-process.ts";
import { now, one, row } from "./report.ts";
import type { Setup } from "./setup.ts";
import type { Surface } from "./surfaces.ts";

/** How long after a load its memory may take to come back. */
const SETTLE_MS = 12_000;

/** Messages of each session before the rates are taken: the compiler and the collector are at work until then. */
const WARM = 20;

/** Messages a second over some sessions, and what each of them costs. Memory counts from before the first of them. */
export async function measureThroughput(
  { rawTurn }: Setup,
  gateway: GatewayProcess,
  surface: Surface,
  { sessions, messages }: { readonly sessions: number; readonly messages: number },
): Promise<void> {
  const marked = sessions === 32;
  const before = gateway.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, gateway.rss());
  }, 50);
  const load = (from: number, to: number): Promise<void> =>
    each(sessions, async (session) => {
      const peer = `t${sessions}-${session}`;
      for (let i = from; i < to; i++) await surface.exchange(peer, `${peer}-${i}`);
    });
  await load(0, WARM);
  const cpu = gateway.cpuMs();
  const io = gateway.io();
  const started = now();
  await load(WARM, WARM + messages);
  const seconds = (now() - started) / 1000;
  clearInterval(watch);
  const count = sessions * messages;
  const cpuMs = gateway.cpuMs() - cpu;
  const after = gateway.io();

  const floorStarted = now();
  await each(sessions, async () => {
    for (let i = 0; i < messages; i++) await rawTurn();
  });
  const floor = count / ((now() - floorStarted) / 1000);
  row({
    name: `messages a second, ${sessions} sessions`,
    ours: one(count / seconds),
    floor: { name: "raw SDK, a call a message", value: one(floor) },
    ...(marked ? { marks: [{ atLeast: 400 }] } : {}),
  });
  row({
    name: "  CPU a message, ms",
    ours: one(cpuMs / count),
    ...(marked ? { marks: [{ atMost: 4 }] } : {}),
  });
  row({
    name: "  written to disk a message, KB",
    ours: one((after.bytes - io.bytes) / count / 1024),
    ...(marked ? { marks: [{ atMost: 20 }] } : {}),
  });
  row({
    name: "  write calls a message, sockets included",
    ours: one((after.writes - io.writes) / count),
    ...(marked ? { marks: [{ atMost: 15 }] } : {}),
  });
  row({
    name: "  resident memory at most, MB",
    ours: one(peak / 1e6),
    floor: { name: "before it", value: one(before / 1e6) },
    ...(marked ? { marks: [{ atMost: 200 }] } : {}),
  });
  if (!marked) return;
  await sleep(SETTLE_MS);
  row({
    name: "  resident memory kept after it, MB",
    ours: one((gateway.rss() - before) / 1e6),
    marks: [{ atMost: 20 }],
  });
}

/** What it costs in memory to have talked with very many people. */
export async function measureManySessions(
  gateway: GatewayProcess,
  surface: Surface,
  sessions: number,
): Promise<void> {
  const before = gateway.rss();
  let next = 0;
  await each(32, async () => {
    while (next < sessions) {
      const session = next++;
      await surface.exchange(`many-${session}`, `many-${session}`);
    }
  });
  await sleep(SETTLE_MS);
  row({
    name: `resident memory for ${sessions.toLocaleString("en")} sessions touched, MB`,
    ours: one((gateway.rss() - before) / 1e6),
    floor: { name: "before it", value: one(before / 1e6) },
    marks: [{ atMost: 60 }],
  });
}

async function each(count: number, work: (index: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}
