import type { OutboundMediaKind } from "@signalbox/channel";
import type { Inspector } from "./ports.ts";

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
const SAMPLE = 65_536;
/** Endings of texts that a file may keep: what is not among them is called `txt`. */
const ENDINGS: readonly string[] =
  "txt md markdown csv tsv json jsonl ndjson json5 yaml yml toml ini cfg conf env properties log xml html htm svg css scss less js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php pl lua go rs c h cc cpp hpp cs java kt kts scala swift m sh bash zsh fish ps1 bat cmd sql graphql proto tex bib rst adoc srt vtt ics diff patch r jl ipynb dockerfile makefile gradle tf".split(
    " ",
  );

/** Recognises a type by its content. `name` may be a path or URL; of it only the ending counts. */
export async function mediaTypeOf(
  bytes: Uint8Array,
  name: string | undefined,
  inspector: Inspector,
): Promise<MediaType> {
  const { fileTypeFromBuffer } = await import("file-type");
  const binary = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (binary) return { mimeType: bare(binary.mime), extension: binary.ext };
  if (encodingOf(bytes, inspector) === undefined) return UNKNOWN;
  const ending = /\.([0-9a-z]{1,10})$/i.exec(name ?? "")?.[1]?.toLowerCase();
  const extension = ENDINGS.find((one) => one === ending);
  if (extension === undefined) return TEXT;
  const { default: mime } = await import("mime");
  const mimeType = mime.getType(extension);
  // Source code has types of its own that nobody agrees on (`.ts` is a video to the registry).
  return mimeType !== null && TEXTUAL.test(mimeType)
    ? { mimeType, extension }
    : { mimeType: TEXT.mimeType, extension };
}

/** The text that bytes are, undefined for what is none. */
export function decodeText(bytes: Uint8Array, inspector: Inspector): string | undefined {
  const encoding = encodingOf(bytes, inspector);
  return encoding === undefined ? undefined : new TextDecoder(encoding).decode(bytes);
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

function encodingOf(bytes: Uint8Array, { detectEncoding }: Inspector): string | undefined {
  return detectEncoding(bytes.subarray(0, SAMPLE), bytes.byteLength <= SAMPLE);
}
