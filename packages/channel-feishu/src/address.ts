import { type AddressCodec, createAddressCodec, type Payload, textAt } from "@signalbox/channel";

/** Destination of a reply. */
export interface FeishuAddress {
  /** A chat (`oc_…`) or a person (`ou_…` open id, `on_…` union id). */
  readonly id: string;
  /** The message that started the thread to reply in. */
  readonly rootId?: string;
}

/** Writes addresses as `feishu:oc_…`, or `feishu:oc_…/om_…` for a thread. */
export const addressCodec: AddressCodec<FeishuAddress> = createAddressCodec("feishu", "Feishu", {
  write: ({ id, rootId }) => [id, rootId],
  read: ([id, rootId]) => (rootId === undefined ? { id } : { id, rootId }),
});

/** Returns the type of an id for the API's `receive_id_type`. */
export function idType(id: string): "chat_id" | "open_id" | "union_id" {
  if (id.startsWith("ou_")) return "open_id";
  return id.startsWith("on_") ? "union_id" : "chat_id";
}

/**
 * Returns the id of a person from Feishu's object of up to three ids. User ids are ignored, because a tenant chooses
 * them and could use another person's open id as one.
 */
export function idIn(ids: Payload): string | undefined {
  const openId = textAt(ids, "open_id");
  if (openId !== undefined) return openId;
  const unionId = textAt(ids, "union_id");
  return unionId?.startsWith("on_") ? unionId : undefined;
}
