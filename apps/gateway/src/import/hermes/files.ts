import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "@signalbox/home";
import type { Item } from "../item.ts";
import type { FileImport, SkillImport } from "../source.ts";
import { getFileFault, getFolderFault, listTree } from "../tree.ts";

/** Returns the files of the agent, and its memory as lists. Links are left out. */
export function readFiles(
  dir: string,
  agentId: string,
  isUntrusted: boolean,
): { readonly imports: readonly FileImport[]; readonly items: readonly Item[] } {
  const files: FileImport[] = [];
  const items: Item[] = [];
  const isUsable = (part: FileImport["part"], id: string): boolean => {
    if (!existsSync(join(dir, id))) return false;
    const why = getFileFault(join(dir, id), dir);
    if (why !== undefined) items.push({ part, id, state: "skipped", why });
    return why === undefined;
  };
  for (const name of ["SOUL.md", "AGENTS.md"])
    if (isUsable("workspaces", name))
      files.push({
        kind: "file",
        part: "workspaces",
        id: name,
        content: { path: join(dir, name) },
        to: `workspaces/${agentId}/${name}`,
      });
  for (const [name, to] of [
    ["MEMORY.md", "memory/MEMORY.md"],
    ["USER.md", "USER.md"],
  ] as const) {
    if (!isUsable("memory", `memories/${name}`)) continue;
    const file = join(dir, "memories", name);
    const mark = isUntrusted && name === "MEMORY.md" ? ' <!-- memory {"untrusted":"other"} -->' : "";
    const entries = readFileSync(file, "utf8")
      .split(/^§\s*$/m)
      .map((entry) => entry.trim().replace(/\s+/g, " ").replaceAll("<!-- memory", "&lt;!-- memory"))
      .filter((entry) => entry !== "");
    files.push({
      kind: "file",
      part: "memory",
      id: `memories/${name}`,
      content: { text: `${entries.map((entry) => `- ${entry}${mark}`).join("\n")}\n` },
      to: `workspaces/${agentId}/${to}`,
      loss:
        mark === ""
          ? undefined
          : "Others could talk to the agent, so its notes count as untrusted (--trust-memory).",
    });
  }
  return { imports: files, items };
}

/** Returns the skills in `skills/<category>/<name>`. Those that came with Hermes are left out. */
export function readSkills(dir: string): {
  readonly imports: readonly SkillImport[];
  readonly items: readonly Item[];
} {
  const root = join(dir, "skills");
  if (!existsSync(root)) return { imports: [], items: [] };
  const fault = getFolderFault(root, dir);
  if (fault !== undefined)
    return { imports: [], items: [{ part: "skills", id: "skills", state: "skipped", why: fault }] };
  const manifest = ["manifest.json", ".bundled_manifest", ".manifest.json"]
    .map((name) => join(root, name))
    .find((file) => existsSync(file) && getFileFault(file, dir) === undefined);
  const bundled = manifest === undefined ? "" : readFileSync(manifest, "utf8");
  const folders = new Map<string, Map<string, string>>();
  const items: Item[] = [];
  const tree = listTree(root);
  const skillDirs = tree.flatMap(({ path }) =>
    /\/SKILL\.md$/.test(path) ? [path.slice(0, -"/SKILL.md".length)] : [],
  );
  for (const { path, file, leftOut } of tree) {
    const folder = skillDirs.find((each) => path.startsWith(`${each}/`));
    if (folder === undefined || leftOut !== undefined) {
      items.push({
        part: "skills",
        id: `skills/${path}`,
        state: "skipped",
        why: leftOut ?? "Not a part of a skill.",
      });
      continue;
    }
    const files = folders.get(folder) ?? new Map<string, string>();
    files.set(path.slice(folder.length + 1), file);
    folders.set(folder, files);
  }
  const names = [...folders.keys()].map((folder) => folder.split("/").at(-1) ?? "");
  const imports: SkillImport[] = [];
  for (const [folder, files] of folders) {
    const name = folder.split("/").at(-1) ?? "";
    const id = `skills/${folder}`;
    if (new RegExp(`(^|[^\\w-])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}([^\\w-]|$)`, "m").test(bundled))
      items.push({ part: "skills", id, state: "skipped", why: "It came with Hermes." });
    else
      imports.push({
        kind: "skill",
        id,
        files,
        to: `skills/${names.filter((each) => each === name).length > 1 ? folder.replaceAll("/", "-") : name}`,
      });
  }
  return { imports, items };
}

const READ = new Set([
  "config.yaml",
  ".env",
  "state.db",
  "state.db-wal",
  "state.db-shm",
  "SOUL.md",
  "AGENTS.md",
  "skills",
  "pairing",
]);
const RECREATED =
  /^(logs?|cache|tmp|bin|node|checkpoints|sandboxes|image_cache|audio_cache|document_cache|.*\.(bak|log|pid|lock))$/;

/** Reports the rest of the folder. */
export function listRest(dir: string): readonly Item[] {
  const items: Item[] = [];
  const add = (id: string, state: Item["state"], why: string): void =>
    void items.push({ part: "config", id, state, why });
  for (const name of readdirSync(dir).toSorted()) {
    if (READ.has(name)) continue;
    if (RECREATED.test(name)) add(name, "skipped", "Hermes creates it again.");
    else if (name === "profiles")
      for (const profile of readdirSync(join(dir, name)))
        add(
          `profiles/${profile}`,
          "unsupported",
          `A whole home. Import it with \`signalbox import hermes ${join(dir, name, profile)} --agent main=${profile} --account telegram/main=${profile}\`, with --account for each of its channels.`,
        );
    else if (name === "memories" || name === "cron" || name === "platforms") {
      for (const entry of readSafely(join(dir, name)))
        if (!["MEMORY.md", "USER.md", "jobs.json", "pairing"].includes(entry))
          add(
            `${name}/${entry}`,
            name === "cron" ? "skipped" : "unsupported",
            name === "cron" ? "What ran." : "Signalbox has no use for it.",
          );
    } else if (name === "auth.json") add(name, "unsupported", "Logins. Sign in again, or set API keys.");
    else
      add(
        name,
        "unsupported",
        name === "hooks" || name === "plugins"
          ? "Code of hooks and plugins."
          : "Signalbox has no use for it.",
      );
  }
  return items;
}

function readSafely(dir: string): readonly string[] {
  try {
    return statSync(dir).isDirectory() ? readdirSync(dir) : [];
  } catch (error) {
    throw new GatewayError("failure", `${dir} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}
