// `npm run prove -- hostile`, its part about a gateway as it runs: hooks, sub-agents, tools of packages and servers,
// commands in the background, schedules and other conversations, on every rung. Then each defence is taken away in a
// copy of what was built, and some attack of its kind must get through.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { z } from "zod";
import { copyBuild } from "../../mutants/build-copy.ts";
import { GATEWAY_DEFENCES } from "./defences.ts";

const ENTRY = join("apps", "gateway", "dist", "index.js");
const ROOT = join(import.meta.dirname, "..", "..", "..", "..", "..", "..");
const PROGRAM = join(import.meta.dirname, "try-attacks.ts");

const told = z.object({
  tried: z.number(),
  through: z.array(z.object({ kind: z.string(), name: z.string(), damage: z.string() })),
});

/** A process of its own each time: what was built is loaded once. */
function tryAttacks(root: string, rung: string, ...kind: readonly string[]): z.infer<typeof told> {
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM, join(root, ENTRY), rung, ...kind], {
    encoding: "utf8",
  });
  try {
    return told.parse(JSON.parse(stdout));
  } catch {
    throw new Error(`the attacks were not tried: ${stderr}`);
  }
}

let failed = false;
for (const rung of ["bubblewrap", "none", "off"]) {
  const { tried, through } = tryAttacks(ROOT, rung);
  console.log(`a gateway with the sandbox ${rung}: ${tried} tried, ${through.length} got through`);
  for (const each of through) console.log("  ", each);
  if (through.length > 0) failed = true;
}

const copy = copyBuild();
try {
  for (const { name, kind, edits } of GATEWAY_DEFENCES) {
    const restore = copy.plant(edits);
    const { through } = tryAttacks(copy.root, "bubblewrap", kind);
    restore();
    console.log(`without "${name}": ${through.length > 0 ? "caught" : "NOT CAUGHT"}`);
    if (through.length === 0) failed = true;
  }
} finally {
  copy.remove();
}
process.exit(failed ? 1 : 0);
