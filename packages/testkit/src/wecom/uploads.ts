import { createHash } from "node:crypto";
import { isRaw, type Raw } from "../raw.ts";
import { type Ack, ok, refusals } from "./reply.ts";

/** An attachment that the bot has uploaded. */
export interface WecomUpload {
  readonly type: string;
  readonly filename: string;
  readonly bytes: Buffer;
}

interface Unfinished {
  readonly type: string;
  readonly filename: string;
  readonly size: number;
  readonly md5: string | undefined;
  readonly pieces: (Buffer | undefined)[];
}

const PIECE_BYTES = 512 * 1024;
const MAX_PIECES = 100;
const MIN_BYTES = 5;
const MAX_NAME_BYTES = 256;
/** Maximum sizes in bytes. Source: "上传临时素材" of document/path/101463. */
const maxBytes = new Map([
  ["image", 10_485_760],
  ["voice", 2_097_152],
  ["video", 10_485_760],
  ["file", 20_971_520],
]);

/** Uploads in pieces: init, one frame for each piece, finish. */
export class Uploads {
  readonly #unfinished = new Map<string, Unfinished>();
  readonly #finished = new Map<string, WecomUpload>();
  #count = 0;

  /** Returns an attachment by its media id. */
  get(mediaId: string): WecomUpload | undefined {
    return this.#finished.get(mediaId);
  }

  init({ type, filename, total_size: size, total_chunks: count, md5 }: Raw): Ack {
    const max = typeof type === "string" ? maxBytes.get(type) : undefined;
    if (typeof type !== "string" || max === undefined) return refusals.parameter("type");
    if (typeof filename !== "string" || filename === "" || Buffer.byteLength(filename) > MAX_NAME_BYTES)
      return refusals.parameter("filename");
    if (typeof size !== "number" || size < MIN_BYTES || size > max) return refusals.fileSize();
    if (count !== Math.ceil(size / PIECE_BYTES) || count > MAX_PIECES)
      return refusals.parameter("total_chunks");
    if (md5 !== undefined && typeof md5 !== "string") return refusals.parameter("md5");
    this.#count += 1;
    const id = `upload-${this.#count}`;
    this.#unfinished.set(id, { type, filename, size, md5, pieces: Array.from({ length: count }) });
    return ok({ upload_id: id });
  }

  chunk({ upload_id: id, chunk_index: index, base64_data: data }: Raw): Ack {
    const upload = this.#unfinished.get(String(id));
    if (upload === undefined) return refusals.parameter("upload_id");
    if (typeof index !== "number" || !(index in upload.pieces)) return refusals.parameter("chunk_index");
    const piece = Buffer.from(typeof data === "string" ? data : "", "base64");
    if (piece.length === 0 || piece.length > PIECE_BYTES) return refusals.parameter("base64_data");
    upload.pieces[index] = piece;
    return ok();
  }

  finish({ upload_id: id }: Raw): Ack {
    const upload = this.#unfinished.get(String(id));
    if (upload === undefined) return refusals.parameter("upload_id");
    const { type, filename, pieces, size, md5 } = upload;
    const bytes = Buffer.concat(pieces.map((piece) => piece ?? Buffer.alloc(0)));
    if (bytes.length !== size) return refusals.fileSize();
    if (md5 !== undefined && createHash("md5").update(bytes).digest("hex") !== md5)
      return refusals.parameter("md5");
    this.#unfinished.delete(String(id));
    const mediaId = `media-${String(id)}`;
    this.#finished.set(mediaId, { type, filename, bytes });
    return ok({ type, media_id: mediaId, created_at: String(Math.floor(Date.now() / 1_000)) });
  }

  /** Returns true if a message body refers to an upload of its own type. */
  isValid(type: string, body: Raw): boolean {
    const content = body[type];
    return isRaw(content) && this.get(String(content["media_id"]))?.type === type;
  }
}
