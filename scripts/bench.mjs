// `npm run bench`: every package's benchmarks, one after the other. Parameters name packages, for instance `gateway`;
// what else they say is for the benchmarks themselves: `npm run bench -- gateway overhead`.
import { spawn } from "node:child_process";
import { root, workspaceMembers } from "./workspace.mjs";

const measured = workspaceMembers().filter(({ manifest }) => manifest.scripts?.bench !== undefined);
const wanted = process.argv.slice(2).filter((word) => measured.some(({ name }) => name === word));
const rest = process.argv.slice(2).filter((word) => !wanted.includes(word));
if (rest.length > 0 && wanted.length === 0) {
  console.error(`Name a package first: ${measured.map(({ name }) => name).join(", ")}.`);
  process.exit(64);
}
for (const { name, folder, manifest } of measured) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n── ${name}: ${folder.slice(root.length)}`);
  const code = await new Promise((resolve) => {
    const script = [manifest.scripts.bench, ...rest.map((word) => JSON.stringify(word))].join(" ");
    spawn(script, { cwd: folder, shell: true, stdio: "inherit" }).on("close", resolve);
  });
  if (code !== 0) process.exitCode = 1;
}
