import type { SkillFs } from "./fs.ts";
import type { Pacer } from "./pacer.ts";
import { type Scan, type ScanMemory, scanSource } from "./scan.ts";
import type { SkillSource } from "./sources.ts";

interface Entry {
  /** The newest scan, or the one under way. */
  readonly scan: Promise<Scan>;
  readonly startedAt: number;
  /** How long the scan took, in milliseconds of work and pauses; undefined while it is under way. */
  tookMs?: number;
}

/** At most one part in so many of the time goes into scanning one source. */
const REST = 20;

/** The newest scan of each source. */
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

  /** A scan that is at most so old, in milliseconds, or still takes no more than its share of the time. */
  async scan(source: SkillSource, maxAgeMs: number): Promise<Scan> {
    const key = JSON.stringify([source.kind, source.dir, source.within]);
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#isFresh(entry, maxAgeMs)) return entry.scan;
    const memory: ScanMemory = entry === undefined ? new Map() : (await entry.scan).memory;
    const next = this.#entries.get(key);
    // While that was waited for, another caller may have started the scan that is wanted.
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
    // A clock that was set back does not keep an old scan for ever.
    return Math.abs(this.#now() - startedAt) < (maxAgeMs === 0 ? 0 : Math.max(maxAgeMs, REST * tookMs));
  }
}
