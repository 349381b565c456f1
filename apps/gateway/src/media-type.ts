import type { OutboundMediaKind } from "@signalbox/channel";

/** What bytes are, by what they hold; names only say which kind of text. */
export interface MediaType {
  /** In lower case, without parameters. */
  readonly mimeType: string;
  /** Without a dot. */
  readonly extension: string;
}

const UNKNOWN: MediaType = { mimeType: "application/octet-stream", extension: "bin" };
const TEXT: MediaType = { mimeType: "text/plain", extension: "txt" };
/** Types of text that are not called `text/…`. */
const TEXTUAL =
  /^(text\/.+|application\/(json|.+\+json|xml|.+\+xml|javascript|typescript|x-sh|sql|yaml|toml|x-ndjson|rtf)|image\/svg\+xml)$/;
/** How much of a text is looked at. */
const SAMPLE = 4_096;

/** Recognises a type by its content. `name` may be a path or URL; of it only the ending counts. */
export async function mediaTypeOf(bytes: Uint8Array, name: string | undefined): Promise<MediaType> {
  const { fileTypeFromBuffer } = await import("file-type");
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (found) return { mimeType: bare(found.mime), extension: found.ext };
  if (!looksLikeText(bytes.subarray(0, SAMPLE))) return UNKNOWN;
  const { default: mime } = await import("mime");
  const extension = /\.([0-9a-z]{1,10})$/i.exec(name ?? "")?.[1]?.toLowerCase();
  const mimeType = extension === undefined ? null : mime.getType(extension);
  if (extension === undefined) return TEXT;
  // Source code has types of its own that nobody agrees on (`.ts` is a video to the registry).
  return mimeType !== null && TEXTUAL.test(mimeType)
    ? { mimeType, extension }
    : { mimeType: TEXT.mimeType, extension };
}

/** Which kind of attachment a type is; what can run scripts is a file. */
export function kindOf(mimeType: string): OutboundMediaKind {
  const [kind] = mimeType.split("/");
  if (mimeType === "image/svg+xml") return "file";
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}

function bare(mimeType: string): string {
  return (mimeType.split(";")[0] ?? "").trim().toLowerCase();
}

function looksLikeText(sample: Uint8Array): boolean {
  if (sample.includes(0)) return false;
  // The sample may end within a character.
  return new TextDecoder().decode(sample, { stream: true }).indexOf("\uFFFD") < 0;
}
