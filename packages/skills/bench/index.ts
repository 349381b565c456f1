// What skills cost a message: with 150 skills on the disk (or as many as the argument says), the first load, a scan
// with nothing changed, and the catalogue; against a floor measured in the same run: reading all SKILL.md files again.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createSkills } from "../src/index.ts";

const COUNT = Number(process.argv[2] ?? 150);
const dir = mkdtempSync(join(tmpdir(), "signalbox-skills-bench-"));
for (let i = 0; i < COUNT; i++) {
  mkdirSync(join(dir, `skill-${i}`));
  const head = `---\nname: skill-${i}\ndescription: "Does thing ${i}. Use when: asked for thing ${i}."\n`;
  const metadata = `metadata: { openclaw: { requires: { bins: [sh] } } }\n---\n`;
  writeFileSync(
    join(dir, `skill-${i}`, "SKILL.md"),
    `${head}${metadata}\n# Thing\n\n${"Words. ".repeat(300)}\n`,
  );
}

/** Microseconds a call: the median of several. */
async function time(calls: number, call: () => unknown): Promise<number> {
  const each: number[] = [];
  for (let i = 0; i < calls; i++) {
    const start = performance.now();
    await call();
    each.push((performance.now() - start) * 1_000);
  }
  each.sort((a, b) => a - b);
  return each[Math.floor(each.length / 2)] ?? Number.NaN;
}

try {
  const sources = [{ kind: "bundled", dir } as const];
  const floor = await time(50, () =>
    readdirSync(dir).map((name) => readFileSync(join(dir, name, "SKILL.md"), "utf8").length),
  );
  const load = await time(10, () => createSkills({ sources }).forAgent());
  const scanning = createSkills({ sources, maxAgeMs: 0 });
  const rescan = await time(200, () => scanning.forAgent());
  const resting = createSkills({ sources, maxAgeMs: 3_600_000 });
  const again = await time(2_000, () => resting.forAgent());
  const agent = await resting.forAgent();
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  await createSkills({ sources }).forAgent();
  loop.disable();
  const catalogue = await time(500, () => agent.catalogue());

  console.log(`skills, ${COUNT} of them, Node.js ${process.versions.node}\n`);
  const row = (name: string, us: number) =>
    console.log(
      `${name.padEnd(48)} ${us.toFixed(0).padStart(8)} µs ${(us / floor).toFixed(3).padStart(9)} × floor`,
    );
  row("floor: reading every SKILL.md", floor);
  row("first load", load);
  row("for an agent, scanned with nothing changed", rescan);
  row("for an agent, within maxAgeMs of the last scan", again);
  row("catalogue", catalogue);
  console.log(`\nlongest hold of the event loop in a first load: ${(loop.max / 1e6).toFixed(1)} ms`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
