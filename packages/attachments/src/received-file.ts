import type { MediaRef, MessageEvent } from "@signalbox/channel";

/** A message with attachments. */
export interface MessageWithFiles {
  /** Unique id of the message. */
  readonly id: string;
  readonly event: MessageEvent;
  /** The agent that responds to it. */
  readonly agentId: string;
  /** Id of the folder in which the files are stored. Default: `agentId` */
  readonly folder?: string;
  /** Role of its sender, as the host names it. */
  readonly role?: string;
  /**
   * Folder of its conversation in the agent's inbox, 16 hexadecimal digits. If it is absent, the files are not stored,
   * so that strangers in an open group cannot fill the disk.
   */
  readonly conversation?: string;
}

/** The transcript of a recording. */
export interface Transcript {
  readonly text: string;
  /** Name of the transcriber. */
  readonly by: string;
}

/** A received attachment. */
export interface ReceivedFile {
  readonly kind: MediaRef["kind"];
  /** Name from the sender. */
  readonly name?: string;
  /** Detected from the content. If the file could not be downloaded, the type that the platform declares. */
  readonly mimeType: string;
  /** Path in the agent's folder; absent if it is not stored. */
  readonly path?: string;
  /** The reason why it was not downloaded or stored. */
  readonly note?: string;
  readonly transcript?: Transcript;
  /** Absent if it was not downloaded, or if no model accepts it. */
  readonly bytes?: Buffer;
}

/**
 * Returns true if someone other than the sender may have written the content of a file. Images count as the sender's
 * own content. Recordings do not, because anyone may speak in them.
 */
export function isUntrusted({ mimeType, bytes, path, transcript }: ReceivedFile): boolean {
  if (transcript !== undefined) return true;
  return (bytes !== undefined || path !== undefined) && !mimeType.startsWith("image/");
}

/** Formats an attachment for the text of its message. */
export function formatAttachment({ kind, name, mimeType, path, note }: ReceivedFile): string {
  const parts = [
    `${kind}${name === undefined ? "" : ` ${JSON.stringify(name)}`}`,
    mimeType,
    ...(path === undefined ? [] : [path]),
    ...(note === undefined ? [] : [note]),
  ];
  return `[${parts.join(", ")}]`;
}
