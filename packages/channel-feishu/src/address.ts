import { type AddressCodec, createAddressCodec, type Payload, textAt } from "@signalbox/channel";

/** Where an answer goes. */
export interface FeishuAddress {
  /** A chat (`oc_…`) or a person (`ou_…` open id, `on_…` union id). */
  readonly id: string;
  /** The message that opened the thread to answer in. */
  readonly rootId?: string;
}

/** `feishu:oc_…` or `feishu:oc_…/om_…`. */
export const addressCodec: AddressCodec<FeishuAddress> = createAddressCodec("feishu", "Feishu", {
  write: ({ id, rootId }) => [id, rootId],
  read: ([id, rootId]) => (rootId === undefined ? { id } : { id, rootId }),
});

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
