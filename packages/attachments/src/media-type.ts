import type { OutboundMediaKind } from "@signalbox/channel";
import type { Inspector } from "./types.ts";

/** A type of content. */
export interface MediaType {
  /** In lower case, without parameters. */
  readonly mimeType: string;
  /** Without a dot. */
  readonly extension: string;
}

const UNKNOWN: MediaType = { mimeType: "application/octet-stream", extension: "bin" };
const TEXT: MediaType = { mimeType: "text/plain", extension: "txt" };
/** Types of text. */
const TEXTUAL =
  /^(text\/.+|application\/(json|.+\+json|xml|.+\+xml|javascript|typescript|x-sh|sql|yaml|toml|x-ndjson|rtf)|image\/svg\+xml)$/;
/** Number of bytes of a text that are inspected. */
const SAMPLE_BYTES = 65_536;
/** Extensions that text files keep. Others become `txt`. */
const TEXT_EXTENSIONS: readonly string[] =
  "txt md markdown csv tsv json jsonl ndjson json5 yaml yml toml ini cfg conf env properties log xml html htm svg css scss less js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php pl lua go rs c h cc cpp hpp cs java kt kts scala swift m sh bash zsh fish ps1 bat cmd sql graphql proto tex bib rst adoc srt vtt ics diff patch r jl ipynb dockerfile makefile gradle tf".split(
    " ",
  );

/**
 * Detects a type by the content.
 *
 * @param name a file name, path or URL, whose extension distinguishes kinds of text
 */
export async function detectMediaType(
  bytes: Uint8Array,
  name: string | undefined,
  inspector: Inspector,
): Promise<MediaType> {
  const { fileTypeFromBuffer } = await import("file-type");
  const binary = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (binary) return { mimeType: withoutParameters(binary.mime), extension: binary.ext };
  if (findEncoding(bytes, inspector) === undefined) return UNKNOWN;
  const written = /\.([0-9a-z]{1,10})$/i.exec(name ?? "")?.[1]?.toLowerCase();
  const extension = TEXT_EXTENSIONS.find((one) => one === written);
  if (extension === undefined) return TEXT;
  const { default: mime } = await import("mime");
  const mimeType = mime.getType(extension);
  // The registry has misleading types for source code: `.ts` is a video.
  return mimeType !== null && TEXTUAL.test(mimeType)
    ? { mimeType, extension }
    : { mimeType: TEXT.mimeType, extension };
}

/** Returns the type of a recording. Returns `undefined` if the bytes are something else. */
export async function detectAudio(bytes: Uint8Array): Promise<MediaType | undefined> {
  const { fileTypeFromBuffer } = await import("file-type");
  const type = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (type === undefined || !type.mime.startsWith("audio/")) return undefined;
  return { mimeType: withoutParameters(type.mime), extension: type.ext };
}

/** Decodes text. Returns `undefined` if the bytes are not text. */
export function decodeText(bytes: Uint8Array, inspector: Inspector): string | undefined {
  const encoding = findEncoding(bytes, inspector);
  return encoding === undefined ? undefined : new TextDecoder(encoding).decode(bytes);
}

/** Returns the kind of attachment for a type. SVG counts as a file, because it can contain scripts. */
export function getMediaKind(mimeType: string): OutboundMediaKind {
  const [kind] = mimeType.split("/");
  if (mimeType === "image/svg+xml") return "file";
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}

function withoutParameters(mimeType: string): string {
  return (mimeType.split(";")[0] ?? "").trim().toLowerCase();
}

function findEncoding(bytes: Uint8Array, { detectEncoding }: Inspector): string | undefined {
  return detectEncoding(bytes.subarray(0, SAMPLE_BYTES), bytes.byteLength <= SAMPLE_BYTES);
}
