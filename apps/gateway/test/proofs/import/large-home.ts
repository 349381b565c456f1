import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { SCRATCH } from "../../../../../scripts/scratch.ts";
import { answered, createOpenclawHome, type FixtureSession, said } from "../../import/openclaw-fixture.ts";

/** The figures of an import. */
export interface LargeImport {
  readonly seconds: number;
  /** Maximum resident memory of the process, in megabytes. */
  readonly megabytes: number;
  /** Number of imported conversations. */
  readonly sessions: number;
}

const START = Date.UTC(2026, 10, 29);
const EVENTS_PER_SESSION = 500;
/** Size of the files of the workspace, in megabytes. */
const FILE_MEGABYTES = 20;
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

/** Creates a home of OpenClaw of a given size, and imports it in a process of its own. */
export async function proveLargeHome(size: {
  readonly megabytes: number;
  readonly events: number;
}): Promise<LargeImport> {
  const dir = mkdtempSync(join(SCRATCH, "signalbox-large-home-"));
  try {
    createLargeHome(join(dir, ".openclaw"), size);
    const child = spawn(process.execPath, [CHILD, join(dir, ".openclaw"), join(dir, "home")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [written, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    if (code !== 0) throw new Error(`the import ended with ${String(code)}`);
    return JSON.parse(written) as LargeImport;
  } finally {
    rmSync(dir, { recursive: true, force: true });
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
