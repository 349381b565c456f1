import type * as z from "zod/mini";
import type { Scope } from "./scopes.ts";

/** A route of the HTTP API. */
export interface ApiRoute {
  readonly method: "GET" | "POST" | "PUT";
  /** Path with parameters, for instance `/api/conversations/:id/messages`. */
  readonly path: string;
  readonly summary: string;
  /** `public`: no credential. `client`: any token or session. Otherwise the scope that the token needs. */
  readonly access: "public" | "client" | Scope;
  /**
   * True if a browser session must have signed in within the last hour, so that a stolen session cannot do this for
   * long. Otherwise the response is 403 with the code `sign_in_again`. Tokens are not affected.
   */
  readonly isSensitive?: true;
  readonly query?: z.ZodMiniType;
  /** Schema of the JSON body, or `bytes` for `application/octet-stream`. */
  readonly body?: z.ZodMiniType | "bytes";
  /** Schema of the response. Without it, the response is 204. */
  readonly response?: z.ZodMiniType;
  /** True if the response is a stream of server-sent events. Their data have the schema `response`. */
  readonly isStream?: true;
  /** Additional error statuses. Every route can respond with 401, 403, 413, 415, 429 and 500. */
  readonly errors?: Readonly<Record<number, string>>;
}
