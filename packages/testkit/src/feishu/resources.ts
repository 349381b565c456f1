import { type ApiReply, refusals, refuse } from "./reply.ts";

interface Resource {
  readonly content: Uint8Array;
  readonly mimeType: string;
  readonly name?: string;
}

/** Files and images of messages. */
export class Resources {
  readonly #all = new Map<string, Resource>();

  add(
    messageId: string,
    key: string,
    content: Uint8Array,
    { mimeType = "application/octet-stream", name }: { mimeType?: string; name?: string } = {},
  ): void {
    this.#all.set(`${messageId} ${key}`, { content, mimeType, name });
  }

  get(messageId: string, key: string, type: string | null): ApiReply {
    if (type !== "image" && type !== "file") return refusals.invalidParameter("type");
    const resource = this.#all.get(`${messageId} ${key}`);
    if (resource === undefined) return refuse(234003, "File not in msg.");
    const name = resource.name === undefined ? "" : `; filename="${encodeURIComponent(resource.name)}"`;
    const headers = { "content-type": resource.mimeType, "content-disposition": `attachment${name}` };
    return { status: 200, body: undefined, bytes: resource.content, headers };
  }
}
