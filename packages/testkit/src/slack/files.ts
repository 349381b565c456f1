import type { Raw } from "../raw.ts";
import { type ApiReply, objectsOf, ok, refuse, textOf } from "./reply.ts";

/** An uploaded or shared file. */
export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array;
  /** The message that shares it, if any. */
  readonly share?: { readonly channel: string; readonly ts: string };
}

interface FileRules {
  readonly url: () => string;
  /** Creates the message that shares a file. Resolves with its timestamp, or with an error code. */
  share(file: Raw, channel: string, threadTs: string | undefined): { readonly ts: string } | string;
}

/**
 * Uploads in three steps, and downloads. Sources: the pages of `files.getUploadURLExternal` and
 * `…completeUploadExternal`.
 */
export class Files {
  readonly #rules: FileRules;
  readonly #all = new Map<string, SlackFile>();
  readonly #expected = new Map<string, { readonly name: string; readonly length: number }>();

  constructor(rules: FileRules) {
    this.#rules = rules;
  }

  get all(): readonly SlackFile[] {
    return [...this.#all.values()];
  }

  add(file: SlackFile): Raw {
    this.#all.set(file.id, file);
    return this.described(file);
  }

  uploadAddress(args: Raw): ApiReply {
    const name = textOf(args, "filename");
    const length = Number(args["length"]);
    if (name === undefined || !(length > 0)) return refuse("invalid_arguments");
    const id = `F${String(this.#expected.size + this.#all.size + 1).padStart(8, "0")}`;
    this.#expected.set(id, { name, length });
    return ok({ upload_url: `${this.#rules.url()}/upload/v1/${id}`, file_id: id });
  }

  /** Receives the bytes of an upload in a form field. */
  async upload(id: string, form: FormData | undefined): Promise<ApiReply> {
    const expected = this.#expected.get(id);
    const [field] = form === undefined ? [] : form.values();
    if (expected === undefined || field === undefined || typeof field === "string")
      return { status: 400, body: "no such upload" };
    const content = new Uint8Array(await field.arrayBuffer());
    if (content.byteLength !== expected.length) return { status: 400, body: "wrong length" };
    this.#all.set(id, { id, name: expected.name, mimeType: "application/octet-stream", content });
    return { status: 200, body: `OK - ${content.byteLength}` };
  }

  complete(args: Raw): ApiReply {
    const channel = textOf(args, "channel_id");
    const shared: Raw[] = [];
    for (const { id } of objectsOf(args["files"])) {
      const file = this.#all.get(String(id));
      if (file === undefined) return refuse("file_not_found");
      const share =
        channel === undefined
          ? undefined
          : this.#rules.share(this.described(file), channel, textOf(args, "thread_ts"));
      if (typeof share === "string") return refuse(share);
      if (channel !== undefined && share !== undefined)
        this.#all.set(file.id, { ...file, share: { channel, ts: share.ts } });
      shared.push(this.described(this.#all.get(file.id) ?? file));
    }
    return shared.length === 0 ? refuse("invalid_arguments") : ok({ files: shared });
  }

  info(args: Raw): ApiReply {
    const file = this.#all.get(textOf(args, "file") ?? "");
    return file === undefined ? refuse("file_not_found") : ok({ file: this.described(file) });
  }

  /** Returns the bytes behind `url_private`. Without a token, returns a sign-in page, as Slack does. */
  download(path: string, isAuthorized: boolean): ApiReply {
    const file = this.#all.get(/^\/files-pri\/([^/]+)/.exec(path)?.[1] ?? "");
    if (file === undefined) return { status: 404, body: "not found" };
    if (!isAuthorized)
      return {
        status: 200,
        body: "",
        bytes: Buffer.from("<html>Sign in"),
        headers: { "content-type": "text/html" },
      };
    const headers = { "content-type": file.mimeType, "content-length": String(file.content.byteLength) };
    return { status: 200, body: "", bytes: file.content, headers };
  }

  described({ id, name, mimeType, content, share }: SlackFile): Raw {
    return {
      id,
      name,
      title: name,
      mimetype: mimeType,
      size: content.byteLength,
      mode: "hosted",
      url_private: `${this.#rules.url()}/files-pri/${id}/${encodeURIComponent(name)}`,
      url_private_download: `${this.#rules.url()}/files-pri/${id}/download/${encodeURIComponent(name)}`,
      shares: share === undefined ? undefined : { public: { [share.channel]: [{ ts: share.ts }] } },
    };
  }
}
