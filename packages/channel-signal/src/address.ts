import {
  type AddressCodec,
  ChannelError,
  createAddressCodec,
  type Payload,
  textAt,
} from "@signalbox/channel";

/** Destination of a message: a person or a group. */
export type SignalAddress =
  /** Service id (a UUID) or phone number of the person. */
  | { readonly person: string }
  /** Group id in base64. */
  | { readonly group: string };

const PERSON = /^(?:\+[1-9]\d{4,14}|(?:PNI:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
const GROUP = /^[A-Za-z0-9+/]{20,60}={0,2}$/;

/** Writes addresses as `signal:<person>` or `signal:group/<id>`. */
export const addressCodec: AddressCodec<SignalAddress> = createAddressCodec("signal", "Signal", {
  write: (address) => ("group" in address ? ["group", address.group] : [address.person]),
  read([first, id, ...more]) {
    if (more.length > 0) return undefined;
    if (id === undefined) return isPersonId(first) ? { person: first } : undefined;
    return first === "group" && GROUP.test(id) ? { group: id } : undefined;
  },
});

/** Returns true for a service id or a phone number. */
export function isPersonId(id: string): boolean {
  return PERSON.test(id);
}

/** The bot's own account. */
export interface Self {
  /** The phone number, which is the bot's id in events. */
  readonly account: string;
  /** The service id, once signal-cli has reported it. */
  readonly uuid?: string | undefined;
}

/**
 * Reads the id of a person from the fields `<prefix>Uuid` and `<prefix>Number`. The service id is preferred, because a
 * phone number can pass to another person. The bot is always identified by its phone number.
 */
export function personAt(payload: Payload, prefix: string, self: Self): string | undefined {
  const fields = prefix === "" ? { uuid: "uuid", number: "number" } : undefined;
  const uuid = textAt(payload, fields?.uuid ?? `${prefix}Uuid`);
  const number = textAt(payload, fields?.number ?? `${prefix}Number`);
  if (number === self.account || (uuid !== undefined && uuid === self.uuid)) return self.account;
  return [uuid, number].find((id) => id !== undefined && isPersonId(id));
}

/** Builds a message id. Signal identifies a message by its author and the time at which it was sent. */
export function formatMessageId(timestamp: number, author: string): string {
  return `${timestamp}:${author}`;
}

/**
 * Parses a message id.
 *
 * @throws ChannelError `not_found` if the id is malformed
 */
export function parseMessageId(messageId: string): { readonly timestamp: number; readonly author: string } {
  const [, timestamp, author = ""] = /^([1-9]\d{0,15}):(.+)$/.exec(messageId) ?? [];
  if (isPersonId(author)) return { timestamp: Number(timestamp), author };
  throw new ChannelError("not_found", "Signal: no such message");
}
