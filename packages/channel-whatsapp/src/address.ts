import { type AddressCodec, createAddressCodec } from "@signalbox/channel";

/** Destination of a message. */
export interface WhatsAppAddress {
  /** A phone number in international format without `+`, a business-scoped user id, or the id of a group. */
  readonly to: string;
  readonly isGroup?: true;
}

const GROUP = "group";

/** Writes addresses as `whatsapp:16505551234`, `whatsapp:US.1349…` or `whatsapp:group/Y2FwaV9…`. */
export const addressCodec: AddressCodec<WhatsAppAddress> = createAddressCodec("whatsapp", "WhatsApp", {
  write: ({ to, isGroup }) => (isGroup === true ? [GROUP, to] : [to]),
  read([first, second, ...more]) {
    if (more.length > 0) return undefined;
    if (second === undefined) return isPhoneNumber(first) || isUserId(first) ? { to: first } : undefined;
    return first === GROUP && /^[\w=+.:@-]{1,256}$/.test(second) ? { to: second, isGroup: true } : undefined;
  },
});

/** Returns true for a phone number in international format without `+`. */
export function isPhoneNumber(id: string): boolean {
  return /^[1-9]\d{4,19}$/.test(id);
}

/**
 * Returns true for a business-scoped user id, which replaces the phone number of people with a user name: a country
 * code, a dot, and up to 128 letters and digits, for parent ids with `ENT.` in between.
 */
export function isUserId(id: string): boolean {
  return /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/.test(id);
}
