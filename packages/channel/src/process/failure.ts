import { z } from "zod";
import { ChannelError, isChannelError, reasonOf } from "../contract/errors.ts";
import { receipt } from "./schemas.ts";

/** An error on the wire; without a code it is none of the contract's. */
export const failure = z.object({
  message: z.string(),
  code: z
    .enum([
      "rate_limited",
      "auth",
      "permission",
      "not_found",
      "too_large",
      "unsupported",
      "invalid",
      "transient",
      "unknown_outcome",
    ])
    .exactOptional(),
  scope: z.enum(["message", "conversation", "account"]).exactOptional(),
  retryAfterMs: z.number().exactOptional(),
  platformCode: z.string().exactOptional(),
  receipt: receipt.exactOptional(),
});
export type Failure = z.infer<typeof failure>;

export function failureOf(error: unknown): Failure {
  if (!isChannelError(error)) return { message: reasonOf(error) };
  const { message, code, scope, retryAfterMs, platformCode, receipt: sent } = error;
  return {
    message,
    code,
    scope,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(platformCode === undefined ? {} : { platformCode }),
    ...(sent === undefined ? {} : { receipt: sent }),
  };
}

export function errorOf({ message, code, ...options }: Failure): Error {
  return code === undefined ? new Error(message) : new ChannelError(code, message, options);
}
