import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { imageCommand, isInImage } from "../../configure/host-packages.ts";
import type { Asker } from "./asker.ts";

/** Installs missing packages after confirmation. Otherwise, prints the command. */
export async function addPackages(
  asker: Asker,
  names: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  if (names.length === 0) return;
  const need = `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} needed.`;
  if (isInImage(env)) return asker.say(`${need} ${imageCommand(names)}`);
  const command = npmInstall(names);
  const line = `\`npm ${command.join(" ")}\``;
  const agreed = await asker.confirm(`${need} Run ${line}?`);
  if (!agreed) return asker.say(`${names.join(" and ")} must be installed before it starts: ${line}.`);
  const code = await run(command);
  asker.say(code === 0 ? "Added." : `npm failed. Run ${line} yourself.`);
}

/** Packages are found only if they are installed next to this program. */
function npmInstall(names: readonly string[]): readonly string[] {
  const here = fileURLToPath(import.meta.url);
  const at = here.lastIndexOf("/node_modules/@signalbox/");
  const project = at < 0 ? process.cwd() : here.slice(0, at);
  const isGlobal = !existsSync(join(project, "package.json"));
  return isGlobal
    ? ["install", "--global", "--prefix", dirname(project), ...names]
    : ["install", "--prefix", project, ...names];
}

function run(parameters: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn("npm", parameters, { stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", () => resolve(1));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
