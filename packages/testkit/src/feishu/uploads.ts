import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, ok, refusals, refuse } from "./reply.ts";

/** An image or file that the bot uploaded. */
export interface Upload {
  readonly key: string;
  /** `image`, or the file type of the upload. */
  readonly type: string;
  /** Empty for images. */
  readonly name: string;
  /** In milliseconds, for audio and video. */
  readonly duration?: number;
  readonly content: Uint8Array;
}

/** Source: the SDK's notes on `im.v1.image.create` and `im.v1.file.create`. */
const imageBytes = 10 * 1024 * 1024;
const fileBytes = 30 * 1024 * 1024;
const fileTypes = ["opus", "mp4", "pdf", "doc", "xls", "ppt", "stream"];

/** Accepted image formats with the position and value of their magic numbers. */
const pictures: readonly (readonly [number, string])[] = [
  [0, "\x89PNG\r\n\x1a\n"],
  [0, "\xff\xd8\xff"],
  [0, "GIF8"],
  [8, "WEBP"],
  [0, "BM"],
  [0, "\0\0\x01\0"],
  [0, "II*\0"],
  [0, "MM\0*"],
  [4, "ftypheic"],
  [4, "ftypheix"],
  [4, "ftypmif1"],
];

/** Upload that each message type can show. Source: the send-message API's page, code 230055. */
const shows: Readonly<Record<string, { readonly field: string; readonly types: readonly string[] }>> = {
  image: { field: "image_key", types: ["image"] },
  audio: { field: "file_key", types: ["opus"] },
  media: { field: "file_key", types: ["mp4"] },
  file: { field: "file_key", types: ["pdf", "doc", "xls", "ppt", "stream"] },
};

/** Uploads and the messages that may show them. */
export class Uploads {
  readonly all: Map<string, Upload> = new Map();

  async image(form: FormData | undefined): Promise<ApiReply> {
    if (form?.get("image_type") !== "message" && form?.get("image_type") !== "avatar")
      return invalid("image_type");
    const content = await bytesOf(form.get("image"));
    const wrong = content === undefined ? invalid("image") : refusedSize(content, imageBytes);
    if (content === undefined || wrong !== undefined) return wrong ?? invalid("image");
    const start = Buffer.from(content.subarray(0, 64)).toString("latin1");
    if (!pictures.some(([at, mark]) => start.startsWith(mark, at)))
      return refuse(234011, "Can't recognize the image format.");
    const { width, height, limit } = pixels(start, content);
    if (width > limit || height > limit) return refuse(234039, "Image resolution exceeds limit.");
    const key = `img_v3_${this.all.size + 1}`;
    this.all.set(key, { key, type: "image", name: "", content });
    return ok({ image_key: key });
  }

  async file(form: FormData | undefined): Promise<ApiReply> {
    const type = form?.get("file_type");
    const name = form?.get("file_name");
    if (form === undefined || typeof type !== "string" || !fileTypes.includes(type))
      return invalid("file_type");
    if (typeof name !== "string" || name === "") return invalid("file_name");
    const content = await bytesOf(form.get("file"));
    const wrong = content === undefined ? invalid("file") : refusedSize(content, fileBytes);
    if (content === undefined || wrong !== undefined) return wrong ?? invalid("file");
    const duration = form.get("duration");
    if (duration !== null && !/^\d+$/.test(String(duration))) return invalid("duration");
    const key = `file_v3_${this.all.size + 1}`;
    this.all.set(key, {
      key,
      type,
      name,
      content,
      duration: duration === null ? undefined : Number(duration),
    });
    return ok({ file_key: key });
  }

  /** Returns the reason why a message cannot show its upload, if any. */
  refuses(msgType: unknown, content: unknown): ApiReply | undefined {
    const shown = shows[String(msgType)];
    if (shown === undefined) return undefined;
    const found = this.all.get(String(parsed(content)[shown.field]));
    if (found === undefined) return refusals.invalidParameter(`invalid ${shown.field}`);
    return shown.types.includes(found.type)
      ? undefined
      : refuse(230055, "The type of file upload does not match the type of message being sent.");
  }

  /** Returns the upload that a message shows. */
  shownBy(content: string): Upload | undefined {
    const { image_key: image, file_key: file } = parsed(content);
    const key = image ?? file;
    return typeof key === "string" ? this.all.get(key) : undefined;
  }
}

function parsed(content: unknown): Raw {
  const value: unknown = JSON.parse(String(content));
  return isRaw(value) ? value : {};
}

function refusedSize(content: Uint8Array, most: number): ApiReply | undefined {
  if (content.byteLength === 0) return refuse(234010, "File's size can't be 0.");
  return content.byteLength > most ? refuse(234006, "The file size exceed the max value.") : undefined;
}

/** Returns the size of a PNG or GIF. */
function pixels(start: string, content: Uint8Array): { width: number; height: number; limit: number } {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  if (start.startsWith("\x89PNG") && content.byteLength >= 24)
    return { width: view.getUint32(16), height: view.getUint32(20), limit: 12_000 };
  if (start.startsWith("GIF8") && content.byteLength >= 10)
    return { width: view.getUint16(6, true), height: view.getUint16(8, true), limit: 2_000 };
  return { width: 0, height: 0, limit: 12_000 };
}

function invalid(field: string): ApiReply {
  return refuse(234001, `Invalid request param: ${field}`);
}

async function bytesOf(value: string | Blob | null): Promise<Uint8Array | undefined> {
  return value === null || typeof value === "string" ? undefined : new Uint8Array(await value.arrayBuffer());
}
