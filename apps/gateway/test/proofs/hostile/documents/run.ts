// `npm run prove -- hostile`, its part about documents: files that try to exhaust the gateway's memory or time, or to
// read a file of the machine. Then each limit is removed in a copy of the sources, and a file must do damage.
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { HOSTILE_FILES } from "./files.ts";

const PACKAGE = join(import.meta.dirname, "..", "..", "..", "..", "..", "..", "packages", "tools");
const PROGRAM = join(import.meta.dirname, "read-file.ts");
const ENTRY = join("documents", "extract-document.ts");
/** Time limit that is set, in milliseconds. */
const TIMEOUT_MS = 1_000;
/** Additional time for a thread to start and to end on a busy machine, in milliseconds. */
const TOLERANCE_MS = 2_500;
const MAX_MEMORY = 300_000_000;
const MAX_CHARS = 100_000;

const costSchema = z.object({ ms: z.number(), memory: z.number(), text: z.string() });

/** Returns the damage that a file does, if any. */
function readFile(sources: string, name: string, timeoutMs = TIMEOUT_MS): string | undefined {
  const args = [PROGRAM, join(sources, ENTRY), name, String(timeoutMs)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (!stdout.startsWith("{")) return `the process ended: ${stderr.slice(0, 200)}`;
  const { ms, memory, text } = costSchema.parse(JSON.parse(stdout));
  if (ms > timeoutMs + TOLERANCE_MS) return `it took ${Math.round(ms)} ms`;
  if (memory > MAX_MEMORY) return `it took ${Math.round(memory / 1_000_000)} MB`;
  if (text.length > MAX_CHARS) return `the text has ${text.length} characters`;
  return text.includes("root:") || text.length > 50_000 ? `the text is ${text.slice(0, 100)}` : undefined;
}

const LIMITS = [
  {
    name: "many zip bombs in one archive",
    file: "documents/package-reader.ts",
    from: "const MAX_BYTES = 50_000_000;",
    to: "const MAX_BYTES = 9e12;",
    timeoutMs: 60_000,
  },
  {
    name: "millions of cells",
    file: "documents/extract-document.ts",
    from: "const limit = AbortSignal.timeout(timeoutMs);",
    to: "const limit = AbortSignal.timeout(timeoutMs * 1_000);",
    timeoutMs: TIMEOUT_MS,
  },
] as const;

let failed = false;
for (const { name } of HOSTILE_FILES) {
  const damage = readFile(join(PACKAGE, "src"), name);
  if (damage === undefined) continue;
  console.log(`  ${name}: ${damage}`);
  failed = true;
}
console.log(`documents: ${HOSTILE_FILES.length} hostile files read${failed ? "" : ", 0 did damage"}`);
for (const { name, file, from, to, timeoutMs } of LIMITS) {
  const copy = join(PACKAGE, `.defenceless-${process.pid}`);
  cpSync(join(PACKAGE, "src"), copy, { recursive: true });
  try {
    const text = readFileSync(join(copy, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
    writeFileSync(join(copy, file), text.replace(from, to));
    const damage = readFile(copy, name, timeoutMs);
    console.log(`without the limit against "${name}": ${damage === undefined ? "NOT CAUGHT" : "caught"}`);
    if (damage === undefined) failed = true;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
process.exit(failed ? 1 : 0);
