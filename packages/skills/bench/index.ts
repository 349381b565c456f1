// What skills cost: found and filtered cold (nothing read yet) and warm (nothing changed), and a catalogue of those
// that fit, for 1,000 and 5,000 skills or as many as the arguments say; beside a floor measured in the same run,
// reading each SKILL.md once. Usage: node bench/index.ts [count…]
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createSkills } from "../src/index.ts";

const COUNTS = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 5_000];
/** As fast as the loop is looked at, in milliseconds. */
const RESOLUTION = 1;

console.log(`Node.js ${process.versions.node}`);
for (const count of COUNTS) await measure(count);

async function measure(count: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-skills-bench-"));
  try {
    for (let at = 0; at < count; at++) writeSkill(dir, at);
    const sources = [{ kind: "bundled", dir } as const];
    const floor = await median(5, () =>
      readdirSync(dir).map((name) => readFileSync(join(dir, name, "SKILL.md"), "utf8").length),
    );
    const held = monitorEventLoopDelay({ resolution: RESOLUTION });
    held.enable();
    const cold = await median(5, () => createSkills({ sources }).forAgent());
    const skills = createSkills({ sources, maxAgeMs: 0 });
    const { problems } = await skills.forAgent();
    const warm = await median(20, () => skills.forAgent());
    const agent = await skills.forAgent();
    const catalogue = await median(20, () =>
      agent.catalogue({ relevantTo: "Please do thing 417 for me, and write it down." }),
    );
    held.disable();

    console.log(`\n${count} skills, ${problems.length} of them not read`);
    row("floor: every SKILL.md read once", floor);
    row("found and filtered, cold", cold);
    row("found and filtered, warm", warm);
    row("catalogue, by relevance", catalogue);
    row("longest hold of the event loop", held.max / 1e6 - RESOLUTION);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function writeSkill(dir: string, at: number): void {
  const folder = join(dir, `skill-${at}`);
  mkdirSync(folder);
  const head = `---\nname: skill-${at}\ndescription: "Does thing ${at}. Use when: asked for thing ${at}."\n`;
  const metadata = `metadata: { openclaw: { requires: { bins: [sh] } } }\n---\n`;
  writeFileSync(join(folder, "SKILL.md"), `${head}${metadata}\n# Thing\n\n${"Words. ".repeat(300)}\n`);
}

/** Milliseconds a call. */
async function median(calls: number, call: () => unknown): Promise<number> {
  const each: number[] = [];
  for (let at = 0; at < calls; at++) {
    const start = performance.now();
    await call();
    each.push(performance.now() - start);
  }
  return each.sort((a, b) => a - b)[Math.floor(each.length / 2)] ?? Number.NaN;
}

function row(name: string, milliseconds: number): void {
  console.log(`  ${name.padEnd(34)} ${milliseconds.toFixed(1).padStart(8)} ms`);
}
