import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pnpmCommand, root, run, workspaceMembers } from "../workspace.mjs";
import { writeAddresses } from "./addresses.mjs";
import { followFirstHour } from "./first-hour.mjs";
import { installGateway, useSinglePackages } from "./installed.mjs";
import { startRegistry } from "./registry.mjs";

/** Stands for the future address of the repository. */
const ORIGIN = "https://git.example.org/signalbox/signalbox.git";

/** Performs a release without publishing anything. Resolves with the exit code. */
export async function rehearse() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-release-"));
  const registry = await startRegistry(folder);
  let failures = 0;
  const step = async (name, work) => {
    const start = performance.now();
    try {
      const found = await work();
      console.log(
        `ok    ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)${found ? `: ${found}` : ""}`,
      );
    } catch (error) {
      failures += 1;
      console.log(`FAIL  ${name}: ${error.message}`);
    }
  };
  try {
    const copy = join(folder, "copy");
    await step("versions and changelogs", () => makeVersions(copy));
    await step("every package is published", () => publishAll(copy, registry));
    await step("the gateway, installed by npm alone, answers", () => installGateway(folder, registry));
    await step("the first hour, word for word as it is documented", () => followFirstHour(folder, registry));
    await step("three single packages in a project of their own", () => useSinglePackages(folder, registry));
  } finally {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(failures === 0 ? "The release would hold." : `${failures} steps failed.`);
  return failures === 0 ? 0 : 1;
}

/** Creates a clean clone with the builds of this checkout, and turns its changesets into versions and changelogs. */
async function makeVersions(copy) {
  await must("git", ["clone", "--quiet", root, copy], root);
  for (const { folder } of workspaceMembers()) {
    const inCopy = folder.replace(root, `${copy}/`);
    if (existsSync(join(folder, "dist")))
      cpSync(join(folder, "dist"), join(inCopy, "dist"), { recursive: true });
  }
  await must(join(root, "node_modules", ".bin", "changeset"), ["version"], copy);
  const published = membersOf(copy);
  writeAddresses(published, { origin: ORIGIN, top: copy });
  for (const { name, folder, manifest } of published) {
    if (manifest.version === "0.0.0") throw new Error(`${name} has no version: a changeset has to name it`);
    if (!existsSync(join(folder, "CHANGELOG.md"))) throw new Error(`${name} has no changelog`);
  }
  return `${published.length} packages`;
}

async function publishAll(copy, { npmrc, url }) {
  writeFileSync(join(copy, ".npmrc"), npmrc);
  const [program, ...first] = pnpmCommand();
  await must(
    program,
    [...first, "-r", "publish", "--no-git-checks", "--access", "public", "--ignore-scripts"],
    copy,
  );
  const members = membersOf(copy);
  for (const { manifest } of members) await expectAddresses(manifest.name, url);
  return `${members.length} packages`;
}

/** Checks that the registry's metadata of a package points to its sources. */
async function expectAddresses(name, registry) {
  const response = await fetch(new URL(encodeURIComponent(name), registry));
  const { versions, "dist-tags": tags } = await response.json();
  const { repository, homepage } = versions[tags.latest];
  if (!repository?.directory || !homepage) throw new Error(`${name} does not say where it comes from`);
}

function membersOf(copy) {
  return workspaceMembers()
    .map(({ name, folder }) => ({ name, folder: folder.replace(root, `${copy}/`) }))
    .map((member) => ({
      ...member,
      manifest: JSON.parse(readFileSync(join(member.folder, "package.json"), "utf8")),
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

async function must(program, parameters, cwd) {
  const { code, output } = await run(program, parameters, { cwd });
  if (code !== 0) throw new Error(`${program} ${parameters.join(" ")}\n${output}`);
  return output;
}
