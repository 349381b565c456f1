import { z } from "zod";
import {
  ChannelError,
  channelErrorCodes,
  channelErrorScopes,
  isChannelError,
  reasonOf,
} from "../contract/errors.ts";
import { receipt } from "./schemas.ts";

/** An error on the wire; without a code it is none of the contract's. */
export const failure = z.object({
  message: z.string(),
  code: z.enum(channelErrorCodes).exactOptional(),
  scope: z.enum(channelErrorScopes).exactOptional(),
  retryAfterMs: z.number().optional(),
  platformCode: z.string().optional(),
  receipt: receipt.optional(),
});
export type Failure = z.infer<typeof failure>;

export function failureOf(error: unknown): Failure {
  if (!isChannelError(error)) return { message: reasonOf(error) };
  const { message, code, scope, retryAfterMs, platformCode, receipt: sent } = error;
  return { message, code, scope, retryAfterMs, platformCode, receipt: sent };
}

export function errorOf({ message, code, ...options }: Failure): Error {
  return code === undefined ? new Error(message) : new ChannelError(code, message, options);
}
