import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChatMessage, type SentAttachment, UploadState } from "@signalbox/protocol";
import { nameOf, type Tag, textOf } from "./conversation.ts";

/** A file that comes with a message of the page's person. */
export interface PageFile {
  readonly attachment: SentAttachment;
  readonly content: string;
}

/** Sends a piece, where a gateway can be reached. */
type Put = (path: string, body: string) => Promise<Response | undefined>;

const AGAIN_MS = 40;
/** Small, so that kills come between two of them. */
const PIECE = 700;

/** Every third plain message brings one. */
export function fileOf(tag: Tag): PageFile | undefined {
  if (tag.kind !== "plain" || tag.number % 3 !== 0) return undefined;
  const content = `The file of ${nameOf(tag)}.\n`.repeat(100);
  return {
    content,
    attachment: {
      id: `file_of_${nameOf(tag).replace(".", "_").padEnd(16, "_")}`,
      name: `${nameOf(tag)}.txt`,
      mimeType: "text/plain",
      bytes: content.length,
    },
  };
}

/** Sends a file piece by piece, from where the gateway says that it is. */
export async function upload({ attachment, content }: PageFile, put: Put): Promise<void> {
  let there = 0;
  while (there < content.length) {
    const response = await put(`uploads/${attachment.id}?at=${there}`, content.slice(there, there + PIECE));
    const state = UploadState.safeParse(await response?.json().catch(() => undefined));
    if (state.success) there = state.data.bytes;
    else await sleep(AGAIN_MS);
  }
}

/**
 * What is wrong with the files of messages that were taken: the conversation names them, the disk has them whole, where
 * its message was not set aside before it came to them.
 */
export function wrongFiles(
  taken: readonly Tag[],
  shown: readonly ChatMessage[],
  inbox: string,
  isSetAside: (tag: Tag) => boolean,
): string[] {
  const kept = keptIn(inbox);
  const known = new Set(taken.flatMap((tag) => fileOf(tag)?.content ?? []));
  const unnamed = taken.filter((tag) => {
    const file = fileOf(tag);
    const named = shown.find(({ text }) => text === textOf(tag))?.attachments ?? [];
    return file !== undefined && !named.some(({ bytes }) => bytes === file.attachment.bytes);
  });
  return [
    ...unnamed.map((tag) => `the page does not name the file of ${nameOf(tag)}`),
    ...[...kept].filter((content) => !known.has(content)).map(() => "a file of the page is not whole"),
    ...taken
      .filter((tag) => {
        const file = fileOf(tag);
        return file !== undefined && !kept.has(file.content) && !isSetAside(tag);
      })
      .map((tag) => `the agent does not have the file of ${nameOf(tag)}`),
  ];
}

function keptIn(inbox: string): ReadonlySet<string> {
  const files = existsSync(inbox) ? readdirSync(inbox, { recursive: true, encoding: "utf8" }) : [];
  return new Set(
    files.filter((name) => name.endsWith(".txt")).map((name) => readFileSync(join(inbox, name), "utf8")),
  );
}
