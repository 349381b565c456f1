// Where a published package is developed: `repository` and `homepage` of each manifest, from the address of `origin`.
// Written with the versions, since a checkout knows its address only once it has one.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** @returns the metadata of the package in `directory`; undefined where `origin` is no address that others can open */
export function addressesOf(origin, directory) {
  const page = pageOf(origin);
  if (page === undefined) return undefined;
  return {
    homepage: `${page}#readme`,
    repository: { type: "git", url: `git+${page}.git`, directory },
  };
}

/** Writes them into the manifests of `packages`, which are below `top`. @throws where `origin` is no address */
export function writeAddresses(packages, { origin, top }) {
  for (const { folder } of packages) {
    const addresses = addressesOf(origin, relative(top, folder).replaceAll("\\", "/"));
    if (addresses === undefined)
      throw new Error(
        `${origin || "no origin"} is no address that others can open. Packages say where they come from: ` +
          "`git remote add origin https://…` (or `set-url`) with the repository's own.",
      );
    const path = join(folder, "package.json");
    const manifest = { ...JSON.parse(readFileSync(path, "utf8")), ...addresses };
    writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
  }
}

/** The address of a repository for browsers, without a name or password. */
function pageOf(origin) {
  const ssh = /^(?:ssh:\/\/)?[\w.-]+@(?<host>[\w.-]+)[:/](?<path>.+)$/.exec(origin)?.groups;
  const url = URL.parse(ssh === undefined ? origin : `https://${ssh.host}/${ssh.path}`);
  if (url?.protocol !== "https:") return undefined;
  return `https://${url.host}${url.pathname.replace(/(?:\.git)?\/?$/, "")}`;
}
