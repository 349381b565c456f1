// `npm run bench`: runs every package's benchmarks, one after the other. The first parameter names a package, for
// instance `gateway`, and the others are passed to its benchmarks: in `npm run bench -- gateway memory`, `memory` is a
// benchmark of the gateway and not the package.
import { spawn } from "node:child_process";
import { root, workspaceMembers } from "./workspace.mjs";

const measured = workspaceMembers().filter(({ manifest }) => manifest.scripts?.bench !== undefined);
const [wanted, ...rest] = process.argv.slice(2);
if (wanted !== undefined && !measured.some(({ name }) => name === wanted)) {
  console.error(`Name a package first: ${measured.map(({ name }) => name).join(", ")}.`);
  process.exit(64);
}
for (const { name, folder, manifest } of measured) {
  if (wanted !== undefined && name !== wanted) continue;
  console.log(`\n── ${name}: ${folder.slice(root.length)}`);
  const code = await new Promise((resolve) => {
    const script = [manifest.scripts.bench, ...rest.map((word) => JSON.stringify(word))].join(" ");
    spawn(script, { cwd: folder, shell: true, stdio: "inherit" }).on("close", resolve);
  });
  if (code !== 0) process.exitCode = 1;
}
