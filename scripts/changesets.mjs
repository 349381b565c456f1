// `changeset status` for `npm test`: verifies that every changeset is valid and that the next versions can be computed.
//
// `changeset status` compares with `main`. If a clone has no branch `main`, this script reads all changesets since the
// first commit.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./workspace.mjs";

const git = (...parameters) => spawnSync("git", parameters, { cwd: root, encoding: "utf8" });

if (git("rev-parse", "--git-dir").status !== 0) {
  console.log("skipped: changesets are read through git, and this folder is no clone");
  process.exit(0);
}
const parameters = ["status"];
if (git("rev-parse", "--verify", "--quiet", "main").status !== 0) {
  const [first] = git("rev-list", "--max-parents=0", "HEAD").stdout.split("\n");
  parameters.push(`--since=${first}`);
}
const changeset = join(root, "node_modules", ".bin", "changeset");
process.exit(spawnSync(changeset, parameters, { cwd: root, stdio: "inherit" }).status ?? 1);
