import { z } from "zod";
import { failure } from "./failure.ts";
import { json } from "./schemas.ts";

/**
 * What travels between a host and the process of an account: one JSON object a line, in both directions. Either end
 * calls methods of the other, several at once; each call is answered once, by its number.
 */
export const packet = z.discriminatedUnion("type", [
  /** `aborted`: its signal has fired already. */
  z.object({
    type: z.literal("call"),
    id: z.int(),
    method: z.string(),
    params: json,
    aborted: z.literal(true).exactOptional(),
  }),
  /** The signal of a call has fired; it is answered all the same. */
  z.object({ type: z.literal("abort"), id: z.int() }),
  z.object({ type: z.literal("result"), id: z.int(), value: json.exactOptional() }),
  z.object({ type: z.literal("error"), id: z.int(), error: failure }),
]);
export type Packet = z.infer<typeof packet>;
