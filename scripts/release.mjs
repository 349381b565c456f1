// `npm run release`: publishes the packages whose versions changesets have raised. `--rehearse` performs all steps
// against a local registry: it creates versions and changelogs in a copy, publishes every package, installs the gateway
// and single packages with npm, and uses them. Prints the results, and exits with 1 if a step failed.
import { join } from "node:path";
import { rehearse } from "./release/rehearse.mjs";
import { root, run, workspaceMembers } from "./workspace.mjs";

const [option, ...more] = process.argv.slice(2);
if ((option !== undefined && option !== "--rehearse") || more.length > 0) {
  console.error("Usage: npm run release [-- --rehearse]");
  process.exit(64);
}
if (option === "--rehearse") process.exitCode = await rehearse();
else if (!saysWhereItComesFrom()) {
  console.error("A package does not say where it comes from: `pnpm run version-packages` first, and commit.");
  process.exitCode = 1;
} else {
  const changeset = join(root, "node_modules", ".bin", "changeset");
  const { code } = await run(changeset, ["publish"], { show: true });
  process.exitCode = code;
}

function saysWhereItComesFrom() {
  return workspaceMembers().every(
    ({ manifest }) => manifest.private === true || (manifest.repository && manifest.homepage),
  );
}
