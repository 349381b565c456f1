import {
  type Conversation,
  objectAt,
  objectsAt,
  type Payload,
  type Sender,
  textAt,
} from "@signalbox/channel";
import { addressCodec, isPhoneNumber, isUserId, type WhatsAppAddress } from "../address.ts";

/** Conversation of a message, and the address for replies. */
export interface Place {
  readonly conversation: Conversation;
  readonly address: string;
}

/** Returns the place of a message with a person, or in a group. */
function placeOf(personId: string, groupId: string | undefined): Place {
  const to: WhatsAppAddress = groupId === undefined ? { to: personId } : { to: groupId, isGroup: true };
  return {
    conversation: { id: to.to, kind: to.isGroup === true ? "group" : "direct" },
    address: addressCodec.encode(to),
  };
}

/** Returns the place if replies can be sent there. Group ids are chosen by Meta and checked like all of its data. */
export function readPlace(message: Payload, personId: string): Place | undefined {
  const groupId = textAt(message, "group_id");
  const place = placeOf(personId, groupId);
  try {
    addressCodec.decode(place.address);
    return place;
  } catch {
    return undefined;
  }
}

/**
 * Returns the id of the person who wrote a message: the phone number, or the business-scoped user id of a person who
 * hides it.
 */
export function readPersonId(message: Payload, number: string, userId: string): string | undefined {
  const id = textAt(message, number);
  if (id !== undefined && isPhoneNumber(id)) return id;
  const scoped = textAt(message, userId);
  return scoped !== undefined && isUserId(scoped) ? scoped : undefined;
}

/** Returns the sender with the profile name from the list of contacts. */
export function readSender(id: string, value: Payload): Sender {
  const contacts = objectsAt(value, "contacts");
  const ofSender = contacts.find((one) => one["wa_id"] === id || one["user_id"] === id);
  // The `wa_id` may differ from the phone number.
  const contact = ofSender ?? (contacts.length === 1 ? contacts[0] : undefined);
  const name = contact && textAt(objectAt(contact, "profile"), "name");
  return { id, name, isBot: false, isSelf: false };
}
