// `npm run bench`: runs every package's benchmarks, one after the other. The first parameter names a package, for
// instance `gateway`, and the others are passed to its benchmarks: in `npm run bench -- gateway memory`, `memory` is a
// benchmark of the gateway and not the package. `npm run bench -- cluster` measures several gateways on one PostgreSQL,
// which takes minutes and is left out otherwise.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root, workspaceMembers } from "./workspace.mjs";

const measured = workspaceMembers()
  .filter(({ manifest }) => manifest.scripts?.bench !== undefined)
  .map(({ name, folder, manifest }) => ({ name, folder, bench: manifest.scripts.bench }));
const onRequest = [
  { name: "cluster", folder: join(root, "apps/gateway"), bench: "node bench/cluster/index.ts" },
];
const [wanted, ...rest] = process.argv.slice(2);
const all = [...measured, ...onRequest];
if (wanted !== undefined && !all.some(({ name }) => name === wanted)) {
  console.error(`Name a package first: ${all.map(({ name }) => name).join(", ")}.`);
  process.exit(64);
}
for (const { name, folder, bench } of wanted === undefined ? measured : all) {
  if (wanted !== undefined && name !== wanted) continue;
  console.log(`\n── ${name}: ${folder.slice(root.length)}`);
  const code = await new Promise((resolve) => {
    const script = [bench, ...rest.map((word) => JSON.stringify(word))].join(" ");
    spawn(script, { cwd: folder, shell: true, stdio: "inherit" }).on("close", resolve);
  });
  if (code !== 0) process.exitCode = 1;
}
