// What importing the built package costs beside better-sqlite3, which it loads: processor time and memory, each in a
// process of its own. Usage, once built: node bench/import.ts [processes]
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { quantile } from "./measure.ts";

const processes = Number(process.argv[2] ?? 15);
const driver = createRequire(import.meta.url).resolve("better-sqlite3");
const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const program = `
const driver = require(${JSON.stringify(driver)});
new driver(":memory:").close();
const rss = process.memoryUsage().rss;
const cpu = process.cpuUsage();
const start = performance.now();
import(${JSON.stringify(built)}).then(() => {
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  console.log(JSON.stringify({ wall, cpu: (user + system) / 1000, bytes: process.memoryUsage().rss - rss }));
});
`;

interface Cost {
  readonly wall: number;
  readonly cpu: number;
  readonly bytes: number;
}

const costs: Cost[] = [];
for (let i = 0; i < processes; i += 1) {
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", program]);
  costs.push(JSON.parse(stdout));
}
const median = (of: (cost: Cost) => number): number => quantile(costs.map(of), 0.5);
console.log(
  `import of the built package over better-sqlite3: ${median(({ wall }) => wall).toFixed(1)} ms ` +
    `(processor ${median(({ cpu }) => cpu).toFixed(1)} ms), ${(median(({ bytes }) => bytes) / 1e6).toFixed(1)} MB`,
);
