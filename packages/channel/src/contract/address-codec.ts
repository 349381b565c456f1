import type { AddressCodec } from "./definition.ts";
import { ChannelError } from "./errors.ts";

/** An address as at least one text part, and as the value that the parts were made from. */
export interface AddressParts<Address> {
  /** Undefined parts are left out. */
  write(address: Address): readonly (string | undefined)[];
  /** Undefined for what is not an address. No part is empty. */
  read(parts: readonly [string, ...string[]]): Address | undefined;
}

/**
 * Writes addresses as the channel's id, a colon and their parts with slashes between them; reads what it wrote, and
 * nothing else.
 *
 * @param label of the platform, for the error
 */
export function createAddressCodec<Address>(
  id: string,
  label: string,
  { write, read }: AddressParts<Address>,
): AddressCodec<Address> {
  const prefix = `${id}:`;
  const encode = (address: Address): string => {
    const parts = write(address).filter((part) => part !== undefined);
    return prefix + parts.map((part) => encodeURIComponent(part.toWellFormed())).join("/");
  };
  return {
    encode,
    decode(text) {
      const [first = "", ...rest] = text.startsWith(prefix)
        ? text.slice(prefix.length).split("/").map(decoded)
        : [];
      const address = [first, ...rest].includes("") ? undefined : read([first, ...rest]);
      if (address !== undefined && encode(address) === text) return address;
      throw new ChannelError("invalid", `Not an address of ${label}: ${JSON.stringify(text.slice(0, 80))}`);
    },
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
