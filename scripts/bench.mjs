// `npm run bench`: every package's benchmarks, one after the other. Parameters name packages, for instance `gateway`.
import { spawn } from "node:child_process";
import { root, workspaceMembers } from "./workspace.mjs";

const wanted = process.argv.slice(2);
for (const { name, folder, manifest } of workspaceMembers()) {
  const script = manifest.scripts?.bench;
  if (script === undefined || (wanted.length > 0 && !wanted.includes(name))) continue;
  console.log(`\n── ${name}: ${folder.slice(root.length)}`);
  const code = await new Promise((resolve) => {
    spawn(script, { cwd: folder, shell: true, stdio: "inherit" }).on("close", resolve);
  });
  if (code !== 0) process.exitCode = 1;
}
