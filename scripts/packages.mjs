// Checks the packages as they would be published: publint and are-the-types-wrong on every packed package, and a dry
// run of `pnpm publish`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { packAll, pnpmCommand, run } from "./workspace.mjs";

/** The packages are ESM only, so resolution by CommonJS and Node.js 10 is not checked. */
const IGNORED_RESOLUTIONS = new Set(["node10", "node16-cjs"]);

const folder = mkdtempSync(join(tmpdir(), "signalbox-pack-"));
let failures = 0;
try {
  const packages = await packAll(folder);
  const engines = new Map(packages.map(({ manifest }) => [manifest.name, manifest.engines?.node]));
  for (const { name, manifest, tarball } of packages) {
    const data = readFileSync(tarball);
    const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
    const lint = await publint({ strict: true, level: "warning", pack: { tarball: bytes } });
    const found = lint.messages.map((message) => formatMessage(message, manifest) ?? message.code);
    const types = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
    if (types.types === false) found.push("has no types");
    else {
      for (const problem of types.problems) {
        if (IGNORED_RESOLUTIONS.has(problem.resolutionKind)) continue;
        found.push(
          `${problem.kind} (${problem.entrypoint ?? problem.fileName ?? ""} ${problem.resolutionKind ?? ""})`,
        );
      }
    }
    for (const field of ["description", "keywords", "license", "engines", "files", "exports"]) {
      if (manifest[field] === undefined) found.push(`package.json has no ${field}`);
    }
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      const needed = engines.get(dependency);
      if (needed !== undefined && isNewer(needed, manifest.engines?.node))
        found.push(`engines must be at least "${needed}", as ${dependency} requires`);
    }
    if (manifest.sideEffects !== false) found.push("package.json does not say sideEffects: false");
    failures += found.length;
    console.log(
      `${found.length === 0 ? "ok  " : "FAIL"} ${name}${found.map((text) => `\n     ${text}`).join("")}`,
    );
  }
  const [program, ...first] = pnpmCommand();
  const dry = await run(program, [
    ...first,
    "-r",
    "publish",
    "--dry-run",
    "--no-git-checks",
    "--access",
    "public",
  ]);
  console.log(
    `${dry.code === 0 ? "ok  " : "FAIL"} pnpm -r publish --dry-run${dry.code === 0 ? "" : `\n${dry.output}`}`,
  );
  if (dry.code !== 0) failures++;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Compares ranges such as `>=22.14`. */
function isNewer(range, than = ">=0.0") {
  const [major = 0, minor = 0] = range.slice(2).split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = than.slice(2).split(".").map(Number);
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}
