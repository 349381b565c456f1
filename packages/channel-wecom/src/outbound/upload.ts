import { createHash } from "node:crypto";
import {
  ChannelError,
  fitText,
  type MediaPart,
  readMedia,
  removeControlCharacters,
  type SendOptions,
  textAt,
} from "@signalbox/channel";
import { commands, createReqId } from "../connection/frames.ts";
import type { Link } from "../connection/link.ts";
import { limits } from "../limits.ts";
import { sendMedia } from "../media.ts";

/**
 * Uploads an attachment in pieces. It is not visible before it is sent. Source: "上传临时素材" of document/path/101463.
 *
 * @returns the id under which it can be sent for three days
 * @throws ChannelError
 */
export async function upload(
  link: Link,
  part: MediaPart,
  { openMedia, signal }: Pick<SendOptions, "openMedia" | "signal">,
): Promise<string> {
  const bytes = Buffer.from(await readMedia(part, sendMedia, openMedia));
  const call = async (cmd: string, body: Readonly<Record<string, unknown>>) => {
    const frame = { cmd, headers: { req_id: createReqId(cmd) }, body };
    return (await link.request({ frame, what: "uploading an attachment", write: false, signal })).body;
  };

  const begun = await call(commands.uploadInit, {
    type: part.kind,
    filename: cleanName(part.name),
    total_size: bytes.length,
    total_chunks: Math.ceil(bytes.length / limits.uploadPieceBytes),
    md5: createHash("md5").update(bytes).digest("hex"),
  });
  const id = expectText(begun, "upload_id");
  for (let at = 0; at < bytes.length; at += limits.uploadPieceBytes)
    await call(commands.uploadChunk, {
      upload_id: id,
      chunk_index: at / limits.uploadPieceBytes,
      base64_data: bytes.toString("base64", at, at + limits.uploadPieceBytes),
    });
  return expectText(await call(commands.uploadFinish, { upload_id: id }), "media_id");
}

function cleanName(name: string): string {
  const clean = removeControlCharacters(name).trim() || "file";
  return fitText(clean, { max: limits.fileNameBytes, unit: "bytes" });
}

function expectText(body: Readonly<Record<string, unknown>>, key: string): string {
  const text = textAt(body, key);
  if (text !== undefined) return text;
  throw new ChannelError("transient", `WeCom: uploading an attachment: the response contains no ${key}`);
}
