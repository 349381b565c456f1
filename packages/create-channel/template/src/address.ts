import { type AddressCodec, createAddressCodec } from "@signalbox/channel";

/** Where an answer goes. */
export interface Address {
  readonly conversation: string;
}

/** `__ID__:<conversation>`. */
export const addressCodec: AddressCodec<Address> = createAddressCodec("__ID__", "__LABEL__", {
  write: ({ conversation }) => [conversation],
  read: ([conversation, more]) => (more === undefined ? { conversation } : undefined),
});
