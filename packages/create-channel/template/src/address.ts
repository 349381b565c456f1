import { type AddressCodec, ChannelError } from "@signalbox/channel";

/** Where an answer goes. */
export interface Address {
  readonly conversation: string;
}

const prefix = "__ID__:";

/** Writes an address as text, and reads back what it wrote and nothing else. */
export const addressCodec: AddressCodec<Address> = {
  encode: ({ conversation }) => prefix + encodeURIComponent(conversation.toWellFormed()),
  decode(text) {
    const conversation = text.startsWith(prefix) ? decoded(text.slice(prefix.length)) : "";
    const address = { conversation };
    if (conversation !== "" && addressCodec.encode(address) === text) return address;
    throw new ChannelError("invalid", `Not an address of __LABEL__: ${JSON.stringify(text.slice(0, 80))}`);
  },
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
