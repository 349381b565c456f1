import type { SkillFs } from "./fs.ts";
import type { Pacer } from "./pacer.ts";
import { type Scan, type ScanMemory, scanSource } from "./scan.ts";
import type { SkillSource } from "./sources.ts";

interface Entry {
  /** The latest scan, or the one in progress. */
  readonly scan: Promise<Scan>;
  readonly startedAt: number;
  /** Duration of the scan with its pauses, in milliseconds. Undefined while it is in progress. */
  tookMs?: number;
}

/** A scan is used for this many times its duration, so that scanning takes at most a twentieth of the time. */
const MIN_AGE_FACTOR = 20;

/** Caches the latest scan of each source. */
export class SourceCache {
  readonly #fs: SkillFs;
  readonly #now: () => number;
  readonly #pacer: Pacer;
  readonly #entries = new Map<string, Entry>();

  constructor(fs: SkillFs, now: () => number, pacer: Pacer) {
    this.#fs = fs;
    this.#now = now;
    this.#pacer = pacer;
  }

  /** Returns a scan that is at most `maxAgeMs` old, or older if scanning the source takes long. */
  async scan(source: SkillSource, maxAgeMs: number): Promise<Scan> {
    const key = JSON.stringify([source.kind, source.dir, source.within]);
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#isFresh(entry, maxAgeMs)) return entry.scan;
    const memory: ScanMemory = entry === undefined ? new Map() : (await entry.scan).memory;
    const next = this.#entries.get(key);
    // Another caller may have started a scan in the meantime.
    if (next !== undefined && next !== entry) return next.scan;
    const startedAt = this.#now();
    const started: Entry = { scan: scanSource(source, this.#fs, memory, this.#pacer), startedAt };
    this.#entries.set(key, started);
    const scan = await started.scan;
    started.tookMs = this.#now() - startedAt;
    return scan;
  }

  #isFresh({ startedAt, tookMs }: Entry, maxAgeMs: number): boolean {
    if (tookMs === undefined) return maxAgeMs > 0;
    // The absolute value keeps a clock that was set back from prolonging the use of a scan.
    return (
      Math.abs(this.#now() - startedAt) < (maxAgeMs === 0 ? 0 : Math.max(maxAgeMs, MIN_AGE_FACTOR * tookMs))
    );
  }
}
