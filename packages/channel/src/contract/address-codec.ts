import type { AddressCodec } from "./definition.ts";
import { ChannelError } from "./errors.ts";

/** Converts between an address and text parts. */
export interface AddressParts<Address> {
  /** Returns at least one part. `undefined` parts are omitted. */
  write(address: Address): readonly (string | undefined)[];
  /** Returns `undefined` for an invalid address. The given parts are never empty. */
  read(parts: readonly [string, ...string[]]): Address | undefined;
}

/**
 * Creates a codec that writes addresses as `<id>:<part>/<part>`, each part percent-encoded. `decode` accepts only text
 * that `encode` could have written.
 *
 * @param id the channel's id
 * @param label the platform's name, for errors
 * @example
 * ```ts
 * const codec = createAddressCodec<{ chat: string; thread?: string }>("mine", "Mine", {
 *   write: ({ chat, thread }) => [chat, thread],
 *   read: ([chat, thread]) => ({ chat, thread }),
 * });
 * codec.encode({ chat: "c1", thread: "t/2" }); // "mine:c1/t%2F2"
 * ```
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
        ? text.slice(prefix.length).split("/").map(decodePart)
        : [];
      const address = [first, ...rest].includes("") ? undefined : read([first, ...rest]);
      if (address !== undefined && encode(address) === text) return address;
      throw new ChannelError("invalid", `${JSON.stringify(text.slice(0, 80))} is not a ${label} address`);
    },
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
