// Collects the license notices of third-party code that becomes part of a bundle.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** Returns the notices of all installed packages with modules in the output of a bundle, as a text. It may be empty. */
export function notices(output) {
  const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? Object.keys(chunk.modules) : []));
  const installed = modules.filter((file) => file.includes(`${sep}node_modules${sep}`));
  return [...new Set(installed.map(packageFolder))].map(notice).sort().join("\n\n");
}

/** Returns the folder of the package that a module belongs to. */
function packageFolder(file) {
  let at = dirname(file);
  while (!isNamed(join(at, "package.json"))) at = dirname(at);
  return at;
}

/** Some packages have nested manifests without a name, which only set the module type. */
function isNamed(file) {
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name !== undefined;
}

function notice(at) {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
  const text = readdirSync(at).find((file) => /^licen[cs]e/i.test(file));
  const header = `${name} ${version}, ${license}, ${homepage ?? ""}`;
  return text === undefined ? header : `${header}\n\n${readFileSync(join(at, text), "utf8")}`;
}
