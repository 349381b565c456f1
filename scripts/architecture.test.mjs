import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { FOLDERS } from "./layer-rules.mjs";
import { root, workspaceMembers } from "./workspace.mjs";

const text = readFileSync(join(root, "docs", "architecture.md"), "utf8");
const diagram = text.match(/^```mermaid\n([\s\S]*?)^```$/m)?.[1] ?? "";
const members = workspaceMembers().map(({ name, folder }) => ({ name, folder: folder.slice(root.length) }));

/** `<name>` is a placeholder. At least one file must match it. */
function isThere(path) {
  return globSync(path.replace(/<\w+>/g, "*"), { cwd: root }).length > 0;
}

/**
 * Returns true if the first diagram contains a package or app, by its name or as `channel-*`, outside the gateway's
 * folders.
 */
function isDrawn(name) {
  const drawn = diagram.replace(/^ *subgraph [\s\S]*?^ *end$/m, "").split(/[^\w*-]+/);
  return drawn.includes(name) || (name.startsWith("channel-") && drawn.includes("channel-*"));
}

it("docs/architecture.md names files that exist", () => {
  const files = [...text.matchAll(/`((?:apps|packages|scripts)\/[^`\s]+)`/g)].map(([, path]) => path);
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((path) => !isThere(path))).toEqual([]);
});

it("docs/architecture.md names files without a folder after a file of the same folder", () => {
  const missing = text.split("\n").flatMap((line) => {
    let folder = "";
    return [...line.matchAll(/`([^`\s]+\.(?:tsx?|json))`/g)].flatMap(([, path]) => {
      if (path.includes("/")) folder = dirname(path);
      return path.includes("/") || folder === "" || isThere(join(folder, path)) ? [] : [`${folder}/${path}`];
    });
  });
  expect(missing).toEqual([]);
});

it("docs/architecture.md says where to make fifteen changes and more", () => {
  const table = text.slice(text.indexOf("## Where to change what"));
  const rows = table.split("\n").filter((line) => line.startsWith("| ") && line.includes("`"));
  expect(rows.length).toBeGreaterThanOrEqual(15);
});

it("docs/architecture.md draws every folder of the gateway", () => {
  const folders = readdirSync(join(root, "apps", "gateway", "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`);
  expect(folders.filter((folder) => !diagram.includes(`"${folder}`))).toEqual([]);
});

it("docs/architecture.md draws the folders of the gateway in the order in which they may import", () => {
  const row = (name) => FOLDERS.findIndex((folders) => folders.includes(name));
  const drawnGateway = diagram.match(/^ *subgraph gateway[\s\S]*?^ *end$/m)?.[0] ?? "";
  const chains = drawnGateway
    .split("\n")
    .map((line) => line.split("-->").map((part) => part.trim().split("[")[0]));
  const arrows = chains.flatMap((names) => names.slice(1).map((to, at) => [names[at], to]));
  expect(arrows.length).toBeGreaterThan(5);
  expect(arrows.filter(([from, to]) => row(from) < 0 || row(from) >= row(to))).toEqual([]);
});

it("docs/architecture.md draws every package", () => {
  expect(members.map(({ name }) => name).filter((name) => !isDrawn(name))).toEqual([]);
});

it("README.md has every package in its table", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const rows = readme.split("\n").filter((line) => line.startsWith("| "));
  const isListed = ({ folder }) => rows.some((row) => row.includes(`](${folder})`));
  expect(members.filter((member) => !isListed(member))).toEqual([]);
});
