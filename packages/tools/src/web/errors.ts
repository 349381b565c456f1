import { CodedError } from "@signalbox/agent-core";

/**
 * - `bad_url`: not an address that can be fetched.
 * - `blocked`: not a host on the public internet.
 * - `network`: no connection, or the connection was lost.
 * - `timeout`: the time limit for connecting, waiting and reading was exceeded.
 * - `redirects`: too many redirects, or one without a target.
 * - `too_large`: more bytes than allowed, compressed or decompressed.
 * - `encoding`: an unsupported or broken compression.
 * - `status`: the server responded with an error.
 * - `type`: the content is not text.
 */
export type FetchErrorCode =
  | "bad_url"
  | "blocked"
  | "network"
  | "timeout"
  | "redirects"
  | "too_large"
  | "encoding"
  | "status"
  | "type";

/**
 * An error that prevented fetching a page. The message is written for the model and reveals nothing about internal
 * networks.
 */
export class FetchError extends CodedError<FetchErrorCode> {
  override readonly name = "FetchError";
}
