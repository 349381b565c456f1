import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { SCRATCH } from "../../../../../scripts/scratch.ts";
import { answered, createOpenclawHome, type FixtureSession, said } from "../../import/openclaw-fixture.ts";

/** The figures of an import. */
export interface LargeImport {
  readonly seconds: number;
  /** Maximum resident memory of the process, in megabytes. 0 if the system does not report it. */
  readonly megabytes: number;
  /** Number of imported conversations. */
  readonly sessions: number;
}

const START = Date.UTC(2026, 10, 29);
const EVENTS_PER_SESSION = 500;
/** Maximum size of a home in the scratch folder, which may be in memory, in megabytes. */
const MAX_IN_MEMORY = 200;
/** Size of the files of the workspace, in megabytes. */
const FILE_MEGABYTES = 20;
const PROGRAM = fileURLToPath(new URL("../../../dist/signalbox.js", import.meta.url));
/** Interval at which the memory of the process is read, in milliseconds. */
const POLL_MS = 20;

/** Creates a home of OpenClaw of a given size, and imports it with the built program. */
export async function proveLargeHome(size: {
  readonly megabytes: number;
  readonly events: number;
}): Promise<LargeImport> {
  const dir = mkdtempSync(join(size.megabytes > MAX_IN_MEMORY ? tmpdir() : SCRATCH, "signalbox-large-home-"));
  try {
    createLargeHome(join(dir, ".openclaw"), size);
    const started = performance.now();
    const words = ["import", "openclaw", join(dir, ".openclaw"), "--apply", "--json"];
    const child = spawn(process.execPath, [PROGRAM, ...words, "--home", join(dir, "home")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let megabytes = 0;
    const timer = setInterval(() => {
      megabytes = Math.max(megabytes, readPeakMegabytes(child.pid));
    }, POLL_MS);
    const [written, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    clearInterval(timer);
    if (code !== 0) throw new Error(`the import ended with ${String(code)}`);
    const { items } = JSON.parse(written) as { items: readonly { part: string; state: string }[] };
    const sessions = items.filter(({ part, state }) => part === "sessions" && state === "imported").length;
    return { seconds: (performance.now() - started) / 1_000, megabytes, sessions };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the peak of the resident memory of a process, or 0 if the system does not report it. */
function readPeakMegabytes(pid: number | undefined): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes ?? 0) / 1_000;
  } catch {
    return 0;
  }
}

function createLargeHome(dir: string, { megabytes, events }: { megabytes: number; events: number }): void {
  const sessions = Array.from(
    { length: Math.ceil(events / EVENTS_PER_SESSION) },
    (_, number): FixtureSession => {
      const at = (index: number) => START + number * 3_600_000 + index * 1_000;
      return {
        key: `agent:main:telegram:direct:${7_000 + number}`,
        windows: [
          {
            id: `w${number}`,
            createdAt: at(0),
            events: Array.from({ length: EVENTS_PER_SESSION }, (_each, index) =>
              index % 2 === 0
                ? said(`${number}-${index}`, `question ${"x".repeat(500)}`, at(index))
                : answered(`${number}-${index}`, `answer ${"y".repeat(3_000)}`, at(index)),
            ),
          },
        ],
      };
    },
  );
  createOpenclawHome(dir, {
    configuration: { session: { dmScope: "per-channel-peer" } },
    sessions: { main: sessions },
  });
  const files = Math.max(1, Math.ceil((megabytes - events * 0.002) / FILE_MEGABYTES));
  for (let file = 0; file < files; file++) {
    const path = join(dir, "workspace", "data", `${file}.bin`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.alloc(FILE_MEGABYTES * 1_000_000, file));
  }
}
