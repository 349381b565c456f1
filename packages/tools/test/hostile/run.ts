// `npm run prove -- hostile`: a hostile model, member and guest try to leave the workspace, to read other people's
// content, to change identity files, and to influence the owner's next run, on every level of the sandbox. Then each
// defence is removed in a copy of the sources, and the attempts against it must succeed.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ATTEMPT_KINDS } from "./attempt-kinds.ts";
import { ATTEMPTS } from "./attempts.ts";
import { DEFENCES, type Defence } from "./defences.ts";
import { loadSubject, SOURCES as SOURCES_URL } from "./subject.ts";
import { tryAll } from "./try-all.ts";

const SOURCES = fileURLToPath(SOURCES_URL);
const tools = await loadSubject(SOURCES_URL);
const COPY = join(import.meta.dirname, "..", "..", `.defenceless-${process.pid}`);
const LIMITS = { timeoutMs: 20_000, memoryBytes: 200_000_000, scratchBytes: 64_000_000 };

let failed = false;
const distinct = new Set(ATTEMPTS.map(({ calls }) => JSON.stringify(calls))).size;
console.log(`${distinct} distinct attempts of ${ATTEMPT_KINDS.length} kinds`);
if (distinct < 300) failed = true;

for (const setting of ["default", "none", "off"] as const) {
  const sandbox = await tools.startSandbox({ setting, limits: LIMITS });
  if (setting === "default" && sandbox.level !== "bubblewrap") {
    console.log(`the level ${setting} cannot be tried here: ${sandbox.reason}`);
    failed = true;
    continue;
  }
  const { attempts, breaches } = await tryAll(tools, sandbox);
  console.log(`level ${sandbox.level}: ${attempts} tried, ${breaches.length} got through`);
  for (const breach of breaches) console.log("  ", breach);
  if (breaches.length > 0) failed = true;
}

for (const defence of DEFENCES) {
  const through = await without(defence);
  const missing = defence.kinds.filter((kind) => !through.has(kind));
  console.log(
    `without "${defence.name}": ${missing.length === 0 ? "caught" : `NOT CAUGHT: ${missing.join(", ")}`}`,
  );
  if (missing.length > 0) failed = true;
}
process.exit(failed ? 1 : 0);

/** Returns the kinds of attempts that succeed without a defence. */
async function without({ changes, kinds, level }: Defence): Promise<ReadonlySet<string>> {
  const copy = `${COPY}-${DEFENCES.findIndex(({ kinds: each }) => each === kinds)}`;
  cpSync(SOURCES, copy, { recursive: true });
  try {
    for (const { file, from, to } of changes) {
      const text = readFileSync(join(copy, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
      writeFileSync(join(copy, file), text.replaceAll(from, to));
    }
    const defenceless = await loadSubject(pathToFileURL(`${copy}/`));
    const sandbox = await defenceless.startSandbox({ setting: level ?? "default", limits: LIMITS });
    const through = new Set<string>();
    for (const kind of kinds) {
      for (const attempt of ATTEMPTS.filter((each) => each.kind === kind)) {
        const { breaches } = await tryAll(defenceless, sandbox, [attempt]);
        if (breaches.length === 0) continue;
        through.add(kind);
        break;
      }
    }
    return through;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
