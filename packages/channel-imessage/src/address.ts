import { type AddressCodec, createAddressCodec } from "@signalbox/channel";

/** Destination of a message: a person or a group. */
export type IMessageAddress =
  /** Phone number in international format, or e-mail address. */
  | { readonly person: string }
  /** Identifier of the group, without the service, for instance `chat123456789`. */
  | { readonly group: string };

const PERSON = /^(?:\+?\d{3,15}|[^\s@/;:"'<>]{1,64}@[^\s@/;:"'<>]{1,190})$/;
const GROUP = /^[A-Za-z0-9_.+-]{1,128}$/;

/** Writes addresses as `imessage:<person>` or `imessage:group/<id>`. */
export const addressCodec: AddressCodec<IMessageAddress> = createAddressCodec("imessage", "iMessage", {
  write: (address) => ("group" in address ? ["group", address.group] : [address.person]),
  read([first, id, ...more]) {
    if (more.length > 0) return undefined;
    if (id === undefined) return isPersonId(first) ? { person: first } : undefined;
    return first === "group" && GROUP.test(id) ? { group: id } : undefined;
  },
});

/** Returns true for a phone number or an e-mail address. */
export function isPersonId(id: string): boolean {
  return PERSON.test(id);
}

export function isGroupId(id: string): boolean {
  return GROUP.test(id);
}

/**
 * Reads a chat GUID of Messages, such as `iMessage;-;+4915112345678` or `any;+;chat123`. The service at the start can
 * change with a version of macOS, so it is not part of an address.
 *
 * @returns `undefined` if it is malformed
 */
export function parseChatGuid(guid: string): IMessageAddress | undefined {
  const [, kind, id = ""] = /^[A-Za-z]+;([+-]);(.+)$/.exec(guid) ?? [];
  if (kind === "+") return isGroupId(id) ? { group: id } : undefined;
  return kind === "-" && isPersonId(id) ? { person: id } : undefined;
}

/** Returns the key of an address in maps. */
export function keyOf(address: IMessageAddress): string {
  return "group" in address ? address.group : address.person;
}
