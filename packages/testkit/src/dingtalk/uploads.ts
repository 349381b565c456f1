import { isRaw } from "../raw.ts";
import { type ApiReply, ok, refuseOld } from "./reply.ts";

/** A file that the bot uploaded. */
export interface Upload {
  readonly mediaId: string;
  readonly type: string;
  readonly name: string;
  readonly content: Uint8Array;
}

/** Source: DingTalk's page "Upload media files". */
const maxBytes: Readonly<Record<string, number>> = {
  image: 20 * 1024 * 1024,
  voice: 2 * 1024 * 1024,
  video: 20 * 1024 * 1024,
  file: 20 * 1024 * 1024,
};
const VOICES = /\.(?:ogg|amr)$/i;
const IMAGES = /\.(?:jpe?g|png|gif|bmp)$/i;

export class Uploads {
  readonly all: Map<string, Upload> = new Map();

  async add(type: string, form: FormData | undefined): Promise<ApiReply> {
    const most = maxBytes[type];
    if (most === undefined) return refuseOld(40004, "不合法的媒体文件类型");
    const media = form?.get("media");
    if (!(media instanceof Blob)) return refuseOld(40035, "缺少参数 media");
    const name = "name" in media && typeof media.name === "string" ? media.name : "";
    const content = new Uint8Array(await media.arrayBuffer());
    if (content.byteLength === 0) return refuseOld(40006, "不合法的文件大小");
    if (content.byteLength > most) return refuseOld(40006, "不合法的文件大小");
    if (type === "image" && !IMAGES.test(name)) return refuseOld(40005, "不合法的文件类型");
    if (type === "voice" && !VOICES.test(name)) return refuseOld(40005, "不合法的文件类型");
    const mediaId = `@lAL${this.all.size + 1}`;
    this.all.set(mediaId, { mediaId, type, name, content });
    return ok({ errcode: 0, errmsg: "ok", media_id: mediaId, created_at: Date.now(), type });
  }

  /** Returns the upload that a message shows, or the name of the field that names none. */
  shownBy(kind: string, parameters: unknown): Upload | string | undefined {
    const { [kind]: shown } = {
      sampleImageMsg: ["photoURL", "image"],
      sampleAudio: ["mediaId", "voice"],
      sampleFile: ["mediaId", "file"],
    } as Record<string, [string, string] | undefined>;
    if (shown === undefined || !isRaw(parameters)) return undefined;
    const [field, type] = shown;
    const upload = this.all.get(String(parameters[field]));
    return upload?.type === type ? upload : field;
  }
}
