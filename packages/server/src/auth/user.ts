import type { Me } from "@signalbox/protocol";
import type { Principal } from "./access.ts";

/** Who is signed in, in the words of the protocol. */
export function userOf({ name, role }: Principal): Me["user"] {
  return { id: name, name, role };
}
