// `npm run release`: publishes what changesets have given a version. With `--rehearse` everything is done as it would
// be, against a registry on loopback: versions and changelogs in a copy, every package published, the gateway and
// single packages installed from there by npm alone and used. Prints what it saw; ends with 1 where something failed.
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
