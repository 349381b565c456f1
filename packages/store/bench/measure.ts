import fs from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

export interface Figures {
  readonly seconds: number;
  readonly cpuMs: number;
  /** What was handed to the system to write; absent where the system does not tell. */
  readonly kilobytes: number | undefined;
  /** What the system had to write to the disk for it, in its own whole pages. */
  readonly diskKilobytes: number | undefined;
  readonly writeCalls: number | undefined;
  /** The longest the event loop was held, in milliseconds, beyond its usual turn. */
  readonly holdMs: { readonly p99: number; readonly max: number };
}

function io(): { bytes: number; disk: number; calls: number } | undefined {
  try {
    const lines = fs.readFileSync("/proc/self/io", "utf8").split("\n");
    const value = (name: string) => Number(lines.find((line) => line.startsWith(`${name}:`))?.split(" ")[1]);
    return { bytes: value("wchar"), disk: value("write_bytes"), calls: value("syscw") };
  } catch {
    return undefined;
  }
}

/** Runs `work` and says what it cost this process. */
export async function measure(work: () => Promise<void>): Promise<Figures> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = io();
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(cpu);
  const after = io();
  delay.disable();
  return {
    seconds,
    cpuMs: (used.user + used.system) / 1000,
    kilobytes: before === undefined || after === undefined ? undefined : (after.bytes - before.bytes) / 1024,
    diskKilobytes:
      before === undefined || after === undefined ? undefined : (after.disk - before.disk) / 1024,
    writeCalls: before === undefined || after === undefined ? undefined : after.calls - before.calls,
    holdMs: { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
