import { type AddressCodec, createAddressCodec } from "@signalbox/channel";

/** Destination of a message. */
export interface Address {
  readonly conversation: string;
}

/** Writes addresses as `__ID__:<conversation>`. */
export const addressCodec: AddressCodec<Address> = createAddressCodec("__ID__", "__LABEL__", {
  write: ({ conversation }) => [conversation],
  read: ([conversation, more]) => (more === undefined ? { conversation } : undefined),
});
