import { ChannelError } from "../contract/errors.ts";

/**
 * An id as one segment of a path. Ids come from models, too: `..` would make it another call.
 *
 * @throws ChannelError `not_found` for what is no segment
 */
export function pathSegment(id: string): string {
  const segment = encodeURIComponent(id.toWellFormed());
  if (segment === "" || segment === "." || segment === "..")
    throw new ChannelError("not_found", "There is nothing of that id");
  return segment;
}
