import { type AddressCodec, ChannelError, type Payload, textAt } from "@signalbox/channel";

/** Where an answer goes. */
export interface FeishuAddress {
  /** A chat (`oc_…`) or a person (`ou_…` open id, `on_…` union id). */
  readonly id: string;
  /** The message that opened the thread to answer in. */
  readonly rootId?: string;
}

const prefix = "feishu:";

/** `feishu:oc_…` or `feishu:oc_…/om_…`. */
export const addressCodec: AddressCodec<FeishuAddress> = {
  encode: ({ id, rootId }) =>
    prefix +
    [id, ...(rootId === undefined ? [] : [rootId])]
      .map((part) => encodeURIComponent(part.toWellFormed()))
      .join("/"),
  decode(text) {
    const [id, rootId, ...more] = text.startsWith(prefix)
      ? text.slice(prefix.length).split("/").map(decodePart)
      : [];
    if (id === undefined || id === "" || rootId === "" || more.length > 0) {
      throw new ChannelError("invalid", `Not an address of Feishu: ${JSON.stringify(text.slice(0, 80))}`);
    }
    const address = rootId === undefined ? { id } : { id, rootId };
    if (addressCodec.encode(address) !== text) {
      throw new ChannelError("invalid", `Not an address of Feishu: ${JSON.stringify(text.slice(0, 80))}`);
    }
    return address;
  },
};

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

/** The kind of id, as the API's `receive_id_type` wants it. */
export function idType(id: string): "chat_id" | "open_id" | "union_id" {
  if (id.startsWith("ou_")) return "open_id";
  return id.startsWith("on_") ? "union_id" : "chat_id";
}

/**
 * The id in what Feishu writes for a person: an object of up to three. A tenant chooses its own user ids, and could
 * choose another person's open id for one, so that they are nobody's.
 */
export function idIn(ids: Payload): string | undefined {
  const openId = textAt(ids, "open_id");
  if (openId !== undefined) return openId;
  const unionId = textAt(ids, "union_id");
  return unionId?.startsWith("on_") ? unionId : undefined;
}
