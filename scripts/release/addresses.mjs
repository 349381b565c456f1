// Sets `repository` and `homepage` of each manifest from the URL of `origin`. This happens together with the version,
// because the URL is not part of the sources.
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** @returns metadata of the package in `directory`; undefined if `origin` is not a public address */
export function addressesOf(origin, directory) {
  const page = pageOf(origin);
  if (page === undefined) return undefined;
  return {
    homepage: `${page}#readme`,
    repository: { type: "git", url: `git+${page}.git`, directory },
  };
}

/**
 * Writes the metadata to the manifests of `packages`, which are below `top`.
 *
 * @throws Error if `origin` is not a public address
 */
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

/** Returns the address of a repository for browsers, without user name and password. */
function pageOf(origin) {
  const ssh = /^(?:ssh:\/\/)?[\w.-]+@(?<host>[\w.-]+)[:/](?<path>.+)$/.exec(origin)?.groups;
  const url = URL.parse(ssh === undefined ? origin : `https://${ssh.host}/${ssh.path}`);
  if (url?.protocol !== "https:") return undefined;
  return `https://${url.host}${url.pathname.replace(/(?:\.git)?\/?$/, "")}`;
}
