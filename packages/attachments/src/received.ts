import type { MediaRef, MessageEvent } from "@signalbox/channel";

/** A message whose attachments are wanted. */
export interface MessageWithFiles {
  /** Tells messages apart. */
  readonly id: string;
  readonly event: MessageEvent;
  /** The agent that answers it. */
  readonly agentId: string;
  /** Of its sender, as its host calls it. */
  readonly role?: string;
  /**
   * The folder of its conversation among those of the agent's folder, 16 hexadecimal digits. Absent: its files are not
   * kept; anybody in an open group must not fill the disk.
   */
  readonly keptIn?: string;
}

/** What is said in a recording, and who wrote it down. */
export interface Transcript {
  readonly text: string;
  readonly by: string;
}

/** One attachment as it was found to be. */
export interface ReceivedFile {
  readonly kind: MediaRef["kind"];
  /** As the sender called it. */
  readonly name?: string;
  /** By its content; what the platform said where it could not be fetched. */
  readonly mimeType: string;
  /** Where it lies in the agent's folder. Absent: it was not kept. */
  readonly path?: string;
  /** Why it was not fetched, or not kept. */
  readonly note?: string;
  /** What is said in a recording. */
  readonly transcript?: Transcript;
  /** Absent where it was not fetched, and for what no model reads. */
  readonly bytes?: Buffer;
}

/**
 * Whether what is told of a file may be the word of others than its sender. A picture is what the sender shows; nobody
 * knows who speaks in a recording.
 */
export function isUntrusted({ mimeType, bytes, path, transcript }: ReceivedFile): boolean {
  if (transcript !== undefined) return true;
  return (bytes !== undefined || path !== undefined) && !mimeType.startsWith("image/");
}

/** One attachment in the text of its message. */
export function attachmentNote({ kind, name, mimeType, path, note }: ReceivedFile): string {
  const parts = [
    `${kind}${name === undefined ? "" : ` ${JSON.stringify(name)}`}`,
    mimeType,
    ...(path === undefined ? [] : [path]),
    ...(note === undefined ? [] : [note]),
  ];
  return `[${parts.join(", ")}]`;
}
