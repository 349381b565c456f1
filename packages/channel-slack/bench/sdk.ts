// Measures the cost of loading the SDK and its parts, each in separate processes; reports medians. Usage:
// node bench/sdk.ts [processes of each]
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname } from "node:path";

const rounds = Number(process.argv[2] ?? 7);
/** Resolve Bolt's dependencies from its own location. */
const bolt = dirname(createRequire(import.meta.url).resolve("@slack/bolt"));

const probe = `
const { createRequire } = require("node:module");
const [from, ...names] = process.argv.slice(1);
const load = createRequire(from + "/");
global.gc();
const before = process.memoryUsage();
const start = performance.now();
for (const name of names) load(name);
const ms = performance.now() - start;
global.gc();
const after = process.memoryUsage();
console.log(JSON.stringify({ ms, resident: after.rss - before.rss, heap: after.heapUsed - before.heapUsed }));
`;

interface Cost {
  readonly ms: number;
  readonly resident: number;
  readonly heap: number;
}

const subjects: Readonly<Record<string, readonly string[]>> = {
  "undici alone": ["undici"],
  "web-api": ["@slack/web-api"],
  "web-api and socket-mode": ["@slack/web-api", "@slack/socket-mode"],
  bolt: ["@slack/bolt"],
  "web-api and socket-mode, undici being there": ["undici", "", "@slack/web-api", "@slack/socket-mode"],
  "bolt, undici being there": ["undici", "", "@slack/bolt"],
};

console.log("| | ms | resident MB | heap MB |\n| --- | --- | --- | --- |");
for (const [name, packages] of Object.entries(subjects)) {
  const [before, after] = split(packages);
  const whole = costOf([...before, ...after]);
  const base = before.length === 0 ? { ms: 0, resident: 0, heap: 0 } : costOf(before);
  const [ms, resident, heap] = [
    whole.ms - base.ms,
    (whole.resident - base.resident) / 1e6,
    (whole.heap - base.heap) / 1e6,
  ];
  console.log(`| ${name} | ${ms.toFixed(0)} | ${resident.toFixed(1)} | ${heap.toFixed(1)} |`);
}

function split(names: readonly string[]): readonly [readonly string[], readonly string[]] {
  const at = names.indexOf("");
  return at < 0 ? [[], names] : [names.slice(0, at), names.slice(at + 1)];
}

function costOf(names: readonly string[]): Cost {
  const costs = Array.from({ length: rounds }, (): Cost => {
    const args = ["--expose-gc", "--eval", probe, bolt, ...names];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  });
  const median = (of: (cost: Cost) => number): number =>
    costs.map(of).toSorted((a, b) => a - b)[rounds >> 1] ?? 0;
  return {
    ms: median(({ ms }) => ms),
    resident: median(({ resident }) => resident),
    heap: median(({ heap }) => heap),
  };
}
