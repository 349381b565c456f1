import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { SkillUpload } from "@signalbox/client";
import { GatewayError, isThere } from "@signalbox/home";
import { escapeLine } from "@signalbox/tools";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";

/** Maximum number of files, as in the API. */
const MAX_FILES = 100;
/** Maximum total size of the files, in bytes, as in the API. */
const MAX_BYTES = 600_000;

/**
 * `signalbox skills add <folder>`: sends a folder or a ZIP file to the running gateway, which stores it in an agent's
 * workspace. No agent can use it before an owner approves it.
 */
export async function add(path: string, options: CommonOptions & { readonly agent?: string }): Promise<void> {
  const content = await readSkill(resolve(path));
  const { client } = await runningGateway(options.home);
  const { agents } = await client.me();
  const agent = options.agent ?? agents.find((each) => each.default)?.id ?? "";
  const added = await client.addSkill({ agent, ...content });
  print(options.json, added, () => [
    `Added the skill ${added.id} to ${agent}. It waits for approval.`,
    "Read it with `signalbox skills changes`, which prints the command that approves it.",
  ]);
}

/** Reads a folder or a ZIP file. The gateway unpacks it and checks its content. */
async function readSkill(path: string): Promise<Omit<SkillUpload, "agent">> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) {
    const name = basename(path).replace(/\.zip$/i, "");
    if (name === basename(path))
      throw new GatewayError(
        "failure",
        `${path} is neither a folder nor a ZIP file with the extension .zip.`,
      );
    if (found.size > MAX_BYTES)
      throw new GatewayError("failure", `The ZIP file has more than ${MAX_BYTES / 1_000} kB.`);
    return { name, zip: (await readFile(path)).toString("base64") };
  }
  if (!isThere(join(path, "SKILL.md")))
    throw new GatewayError("failure", `There is no SKILL.md in ${path}. Name the folder of a skill.`);
  return { name: basename(path), files: await readFolder(path) };
}

interface EncodedFile {
  readonly path: string;
  readonly data: string;
}

/**
 * Reads all files of a folder except hidden ones, such as `.git`.
 *
 * @throws GatewayError if the folder contains a link, or exceeds a limit
 */
async function readFolder(dir: string): Promise<EncodedFile[]> {
  const files: EncodedFile[] = [];
  const folders = [""];
  let bytes = 0;
  for (const folder of folders) {
    for (const entry of await readdir(join(dir, folder), { withFileTypes: true })) {
      if (entry.name.startsWith(".")) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const shown = escapeLine(path);
      if (entry.isDirectory()) folders.push(path);
      else if (!entry.isFile())
        throw new GatewayError("failure", `${shown} is a link or a special file. Replace it with a file.`);
      else {
        bytes += (await lstat(join(dir, path))).size;
        if (files.length === MAX_FILES || bytes > MAX_BYTES)
          throw new GatewayError(
            "failure",
            `The folder has more than ${MAX_FILES} files or ${MAX_BYTES / 1_000} kB, counted up to ${shown}. Remove what the skill does not need.`,
          );
        files.push({ path, data: (await readFile(join(dir, path))).toString("base64") });
      }
    }
    if (folders.length > MAX_FILES)
      throw new GatewayError("failure", `The folder contains more than ${MAX_FILES} folders.`);
  }
  return files;
}
