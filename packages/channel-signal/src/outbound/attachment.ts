import {
  allowAnyMedia,
  type Capabilities,
  type MediaPart,
  parseMimeType,
  readMedia,
  type SendOptions,
} from "@signalbox/channel";
import { limits } from "../limits.ts";

export const sendMedia: NonNullable<Capabilities["sendMedia"]> = allowAnyMedia(limits.uploadBytes);

/**
 * Returns an attachment as a data URI, so that the daemon needs no access to the gateway's files. Source:
 * `signal-cli(1)`, and `DataURI`, which decodes the file name like a form field.
 */
export async function toDataUri(part: MediaPart, openMedia: SendOptions["openMedia"]): Promise<string> {
  const bytes = await readMedia(part, sendMedia, openMedia);
  const data = Buffer.from(bytes.buffer).toString("base64");
  return `data:${parseMimeType(part.mimeType)};filename=${encodeURIComponent(part.name)};base64,${data}`;
}
