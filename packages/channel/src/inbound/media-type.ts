import type { OutboundMediaKind } from "../contract/capabilities.ts";

/** A type as a platform writes it, without what follows it; `application/octet-stream` for what is none. */
export function mimeTypeOf(written: string | undefined): string {
  const type = written?.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream";
}

/** What an attachment of a type is to people. */
export function mediaKindOf(mimeType: string): OutboundMediaKind {
  const [kind] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}
