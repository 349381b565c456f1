import { ChannelError } from "../contract/errors.ts";

/**
 * Encodes an id as a segment of a URL path. Models can choose ids, and `..` would lead to another endpoint.
 *
 * @throws ChannelError `not_found` if the id cannot be a segment
 */
export function encodePathSegment(id: string): string {
  const segment = encodeURIComponent(id.toWellFormed());
  if (segment === "" || segment === "." || segment === "..")
    throw new ChannelError("not_found", "There is nothing with this id");
  return segment;
}
