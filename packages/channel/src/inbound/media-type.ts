import type { OutboundMediaKind } from "../contract/capabilities.ts";

/** Parses a content type and drops its parameters. Returns `application/octet-stream` for an invalid type. */
export function parseMimeType(contentType: string | undefined): string {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream";
}

/** Returns the kind of attachment for a MIME type. */
export function getMediaKind(mimeType: string): OutboundMediaKind {
  const [kind] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}
