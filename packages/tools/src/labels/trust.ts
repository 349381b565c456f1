import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { type Phrases, phrasesIn } from "@signalbox/phrases";
import { INBOX_FOLDER } from "../files/places.ts";
import { detectEncoding } from "../files/text.ts";
import { acquireWriteLock } from "../files/write-lock.ts";
import type { AgentWorkspaces } from "../workspace/agent-workspaces.ts";
import { WorkspaceError } from "../workspace/errors.ts";
import type { FolderEntry, Workspace } from "../workspace/workspace.ts";
import type { FileLabels } from "./file-labels.ts";
import type { FileLabel } from "./label.ts";

/** A file or folder to trust. */
interface TrustRequest {
  readonly path: string;
  /** The digest of the review that an owner has seen. If it is absent, the result contains the review. */
  readonly digest?: string;
}

/** The content for an owner to review before trusting it. */
interface TrustReview {
  /** The content of a file, or one line for each file in a folder. */
  readonly content: string;
  /** Hash of all names and contents, as 32 hexadecimal digits. */
  readonly digest: string;
}

export type TrustResult =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string; readonly review?: TrustReview };

/**
 * Marks a file or folder that others wrote as trusted, if its content has not changed since an owner reviewed it.
 *
 * @param phrases the language of messages. Default: English.
 */
export type Trust = (
  agent: Parameters<AgentWorkspaces>[0],
  request: TrustRequest,
  phrases?: Pick<Phrases, "notTrusted">,
) => Promise<TrustResult>;

/** Time limit for other calls to finish changing files, in milliseconds. */
const LOCK_MS = 30_000;
const MAX_FILES = 2_000;
const MAX_BYTES = 64_000_000;
/**
 * Maximum size of a file that is shown as text, in bytes. Larger files and files that are not UTF-8 are shown by size
 * and hash.
 */
const MAX_TEXT_BYTES = 256_000;

/** Creates the function that owners use to trust files. */
export function createTrust(labels: FileLabels, workspaces: AgentWorkspaces): Trust {
  return async (agent, { path, digest }, { notTrusted } = phrasesIn("en")) => {
    try {
      const workspace = await workspaces(agent);
      // Prevent other tools from changing a file between the comparison and the removal of its label.
      const release = await acquireWriteLock(workspace, AbortSignal.timeout(LOCK_MS), "owner");
      try {
        const displayPath = await workspace.locate(path);
        const place = join(workspace.dir, displayPath);
        if (displayPath === INBOX_FOLDER || displayPath.startsWith(`${INBOX_FOLDER}/`))
          return refuse(notTrusted.received(displayPath, INBOX_FOLDER));
        const label = labels.get(place);
        const below = labels.list(place);
        if (label === undefined && below.length === 0) return refuse(notTrusted.nothing(displayPath));
        if (label !== undefined && label.path !== place)
          return refuse(notTrusted.inFolder(label.path.slice(workspace.dir.length + 1)));
        const labelled = label === undefined ? below : [label, ...below];
        const review = await createReview(workspace, displayPath, labelled);
        if (review === undefined) return refuse(notTrusted.tooLarge(displayPath));
        if (digest !== review.digest) {
          const message =
            digest === undefined ? notTrusted.review(displayPath) : notTrusted.changed(displayPath);
          return { ok: false, message, review };
        }
        await labels.remove(labelled.map((each) => each.path));
        return { ok: true, path: displayPath };
      } finally {
        release();
      }
    } catch (error) {
      if (error instanceof WorkspaceError) return refuse(notTrusted[getReason(error)](path));
      throw error;
    }
  };
}

/** Reads files for a review and computes their common digest. */
class Reviewer {
  readonly #workspace: Workspace;
  readonly #hash = createHash("sha256");
  #files = 0;
  #bytes = 0;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  get isTooLarge(): boolean {
    return this.#files > MAX_FILES || this.#bytes > MAX_BYTES;
  }

  get digest(): string {
    return this.#hash.digest("hex").slice(0, 32);
  }

  /** Returns the content of a single file. */
  async readText(path: string): Promise<string> {
    const bytes = await this.#readFile(path);
    return bytes.length <= MAX_TEXT_BYTES && detectEncoding(bytes, true) === "utf-8"
      ? bytes.toString("utf8")
      : describeFile(path, bytes);
  }

  /** Returns one line for each file in a folder. */
  async listFolder(folder: string): Promise<readonly string[]> {
    const { entries } = await this.#workspace.list(folder);
    const lines = [this.addName(folder)];
    for (const { name, type } of entries) {
      if (this.isTooLarge) break;
      lines.push(...(await this.listEntry(join(folder, name), type)));
    }
    return lines;
  }

  addName(folder: string): string {
    this.#add("folder", folder);
    return `${folder}/`;
  }

  async listEntry(path: string, type: FolderEntry["type"]): Promise<readonly string[]> {
    switch (type) {
      case "folder":
        return this.listFolder(path);
      case "file":
        return [describeFile(path, await this.#readFile(path))];
      case "link":
      case "other":
        this.#add(type, path);
        return [`${path}: ${type === "link" ? "a link, which is not followed" : "not a regular file"}`];
    }
  }

  async #readFile(path: string): Promise<Buffer> {
    const file = await this.#workspace.openFile(path);
    try {
      this.#bytes += file.size;
      const bytes = this.#bytes > MAX_BYTES ? Buffer.alloc(0) : await file.handle.readFile();
      this.#add("file", path, bytes);
      return bytes;
    } finally {
      await file.close();
    }
  }

  /** Also hashes the length of each item, so that different entries never produce the same input. */
  #add(type: string, path: string, bytes: Uint8Array = new Uint8Array()): void {
    this.#files += 1;
    this.#hash.update(JSON.stringify([type, path, bytes.length])).update(bytes);
  }
}

/**
 * Reviews a file, or the content that others wrote in a folder.
 *
 * @returns undefined if there is too much content to review
 */
async function createReview(
  workspace: Workspace,
  path: string,
  labelled: readonly FileLabel[],
): Promise<TrustReview | undefined> {
  const reviewer = new Reviewer(workspace);
  const isFolder = (await listIfFolder(workspace, path)) !== undefined;
  const content = isFolder
    ? (await listLabelled(workspace, reviewer, labelled)).join("\n")
    : await reviewer.readText(path);
  return reviewer.isTooLarge ? undefined : { content, digest: reviewer.digest };
}

async function listLabelled(
  workspace: Workspace,
  reviewer: Reviewer,
  labelled: readonly FileLabel[],
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { path: absolute, kind } of labelled.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = absolute.slice(workspace.dir.length + 1);
    const siblings = await listIfFolder(workspace, dirname(path)).catch(ignoreMissing);
    const entry = siblings?.find(({ name }) => name === basename(path));
    if (entry === undefined) continue;
    if (entry.type === "folder" && kind === "entry") lines.push(reviewer.addName(path));
    else lines.push(...(await reviewer.listEntry(path, entry.type)));
    if (reviewer.isTooLarge) break;
  }
  return lines;
}

async function listIfFolder(workspace: Workspace, path: string): Promise<readonly FolderEntry[] | undefined> {
  try {
    return (await workspace.list(path)).entries;
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "not_a_folder") return undefined;
    throw error;
  }
}

/** A label may outlive its file. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof WorkspaceError && error.code === "not_found") return undefined;
  throw error;
}

function describeFile(path: string, bytes: Uint8Array): string {
  const digest = createHash("sha256").update(bytes).digest("hex");
  return `${path}: ${bytes.length} bytes, SHA-256 ${digest}`;
}

function getReason({ code }: WorkspaceError): "outside" | "missing" | "unusable" {
  if (code === "not_found") return "missing";
  return code === "outside" || code === "forbidden" ? "outside" : "unusable";
}

function refuse(message: string): TrustResult {
  return { ok: false, message };
}
