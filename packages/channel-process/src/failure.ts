import {
  ChannelError,
  channelErrorCodes,
  channelErrorScopes,
  isChannelError,
  reasonOf,
} from "@signalbox/channel";
import { z } from "zod";
import { receipt } from "./schemas.ts";

/**
 * An error as plain data, because structured cloning reduces a `ChannelError` to its message. `code` is absent if the
 * error is not a `ChannelError`.
 */
export const failure = z.object({
  message: z.string(),
  code: z.enum(channelErrorCodes).optional(),
  scope: z.enum(channelErrorScopes).optional(),
  retryAfterMs: z.number().optional(),
  platformCode: z.string().optional(),
  settings: z.array(z.string()).optional(),
  receipt: receipt.optional(),
});
export type Failure = z.infer<typeof failure>;

export function toFailure(error: unknown): Failure {
  if (!isChannelError(error)) return { message: reasonOf(error) };
  const { message, code, scope, retryAfterMs, platformCode, settings, receipt: sent } = error;
  return {
    ...{ message, code, scope, retryAfterMs, platformCode, receipt: sent },
    settings: settings && [...settings],
  };
}

export function toError({ message, code, ...options }: Failure): Error {
  return code === undefined ? new Error(message) : new ChannelError(code, message, options);
}
