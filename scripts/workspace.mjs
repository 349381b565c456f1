import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Workspace members with their manifests, sorted by folder. */
export function workspaceMembers() {
  return ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(root, parent))
      .filter((name) =>
        statSync(join(root, parent, name, "package.json"), { throwIfNoEntry: false })?.isFile(),
      )
      .map((name) => {
        const folder = join(root, parent, name);
        return { name, folder, manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) };
      }),
  );
}

/** The pinned pnpm that the bootstrap script downloaded, or otherwise the one on the path. */
export function pnpmCommand() {
  const entry = join(root, ".tools", "node_modules", "pnpm", "bin", "pnpm.mjs");
  return statSync(entry, { throwIfNoEntry: false })?.isFile() ? [process.execPath, entry] : ["pnpm"];
}

/** Runs a program. Resolves with its exit code and its complete output. */
export function run(program, parameters, options = {}) {
  return new Promise((resolve, reject) => {
    const { show = false, ...rest } = options;
    const child = spawn(program, parameters, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...rest });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (show) process.stdout.write(text);
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Packs every publishable member into `folder`, as it would be published. Returns the path of each tarball. */
export async function packAll(folder) {
  const [program, ...first] = pnpmCommand();
  const { code, output } = await run(program, [
    ...first,
    "--recursive",
    "pack",
    "--pack-destination",
    folder,
  ]);
  if (code !== 0) throw new Error(`pnpm pack failed:\n${output}`);
  return workspaceMembers()
    .filter(({ manifest }) => manifest.private !== true)
    .map((member) => {
      const { name, version } = member.manifest;
      return {
        ...member,
        tarball: join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`),
      };
    });
}
