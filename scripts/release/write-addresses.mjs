// Part of `pnpm run version-packages`: writes the address of the repository to every manifest that will be published.
import { root, run, workspaceMembers } from "../workspace.mjs";
import { writeAddresses } from "./addresses.mjs";

const { output } = await run("git", ["remote", "get-url", "origin"]);
const published = workspaceMembers().filter(({ manifest }) => manifest.private !== true);
try {
  writeAddresses(published, { origin: output.trim(), top: root });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
