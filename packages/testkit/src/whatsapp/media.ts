import { createHash } from "node:crypto";
import { type GraphReply, refuse } from "./reply.ts";

/** An uploaded or received file. */
export interface WhatsAppMedia {
  readonly id: string;
  readonly mimeType: string;
  readonly content: Uint8Array;
  /** Only of uploads. */
  readonly name?: string;
}

const MB = 1_048_576;

/** Maximum size by type of message. Source: "Supported media types" of the Cloud API. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  image: 5 * MB,
  audio: 16 * MB,
  video: 16 * MB,
  sticker: MB / 2,
};
const MAX_DOCUMENT_BYTES = 100 * MB;

/** MIME types that can be sent as each type of message. Documents can have any type. */
const MIME_TYPES: Readonly<Record<string, readonly string[]>> = {
  image: ["image/jpeg", "image/png"],
  audio: ["audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg"],
  video: ["video/mp4", "video/3gpp"],
  sticker: ["image/webp"],
};

/** The media endpoints: upload, lookup of the address, download. */
export class MediaStore {
  readonly #files = new Map<string, WhatsAppMedia>();
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  add(file: WhatsAppMedia): void {
    this.#files.set(file.id, file);
  }

  get(id: string): WhatsAppMedia | undefined {
    return this.#files.get(id);
  }

  async upload(form: FormData | undefined): Promise<GraphReply> {
    const [product, type, file] = ["messaging_product", "type", "file"].map((name) => form?.get(name));
    if (product !== "whatsapp") return refuse(100, "messaging_product is required");
    if (!(file instanceof Blob) || file.size === 0) return refuse(100, "The parameter file is required.");
    const mimeType = typeof type === "string" ? type : file.type;
    if (file.size > MAX_DOCUMENT_BYTES) return refuse(131053, "The file is too large.");
    const id = String(1_000_000_000_000_000 + this.#files.size + 1);
    const content = new Uint8Array(await file.arrayBuffer());
    this.add({ id, mimeType, content, name: file instanceof File ? file.name : undefined });
    return { status: 200, body: { id } };
  }

  /** Returns the refusal of a media message, or `undefined` if the file can be sent as this type. */
  check(type: string, id: string): GraphReply | undefined {
    const file = this.#files.get(id);
    if (file === undefined) return refuse(131053, `No media with the id ${id} exists.`);
    if (MIME_TYPES[type]?.includes(file.mimeType) === false)
      return refuse(131053, `A file of the type ${file.mimeType} cannot be sent as ${type}.`);
    const max = MAX_BYTES[type] ?? MAX_DOCUMENT_BYTES;
    return file.content.byteLength > max ? refuse(131053, "The file is too large.") : undefined;
  }

  lookUp(id: string): GraphReply | undefined {
    const file = this.#files.get(id);
    if (file === undefined) return undefined;
    const { mimeType, content } = file;
    const sha256 = createHash("sha256").update(content).digest("hex");
    const url = `${this.#url()}/whatsapp_business/attachments/?mid=${id}`;
    return {
      status: 200,
      body: {
        messaging_product: "whatsapp",
        id,
        url,
        mime_type: mimeType,
        sha256,
        file_size: String(content.byteLength),
      },
    };
  }

  download(id: string): GraphReply {
    const file = this.#files.get(id);
    if (file === undefined) return { status: 404, body: "" };
    const headers = { "content-type": file.mimeType, "content-length": String(file.content.byteLength) };
    return { status: 200, body: "", bytes: file.content, headers };
  }
}
