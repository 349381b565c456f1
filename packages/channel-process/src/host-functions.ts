import {
  type ChannelContext,
  ChannelError,
  type Outbound,
  type PartReceipt,
  type SendOptions,
} from "@signalbox/channel";
import { z } from "zod";
import type { ByteStreams } from "./byte-streams.ts";
import type { HostFunctions } from "./functions.ts";
import type { ProcessLog } from "./process-log.ts";
import { inboundEvent, json, logEntry, partReceipt, type Status, status } from "./schemas.ts";

const text = z.string();
const number = z.int();

/** A message that is being sent. */
export interface Sending extends Pick<SendOptions, "onPart" | "openMedia"> {
  readonly message: Outbound;
  /** The parts that the process has reported as sent. */
  readonly sent: PartReceipt[];
}

export interface HostFunctionsOptions {
  readonly context: Pick<ChannelContext, "emit" | "cache" | "state" | "mayRequest">;
  readonly log: ProcessLog;
  /** Media that the process is reading. */
  readonly streams: ByteStreams;
  readonly sendings: ReadonlyMap<number, Sending>;
  onStatus(status: Status): void;
}

type Offered = { [Name in keyof HostFunctions]: (parameter: never) => unknown };

/** Creates the functions that an account's process may call. Each one validates its parameter. */
export function hostFunctions({
  context: { emit, cache, state, mayRequest },
  log,
  streams,
  sendings,
  onStatus,
}: HostFunctionsOptions): Offered {
  return {
    emit: validated(inboundEvent, (event) => emit(event)),
    log: validated(logEntry, (entry) => log.write(entry)),
    mayRequest: () => mayRequest?.() ?? true,
    reportStatus: validated(status, onStatus),
    cacheGet: validated(text, (key) => cache.get(key)),
    cacheSet: validated(z.object({ key: text, value: json, ttlMs: z.number() }), ({ key, value, ttlMs }) =>
      cache.set(key, value, ttlMs),
    ),
    stateGet: validated(text, (key) => state.get(key)),
    stateSet: validated(z.object({ key: text, value: json }), ({ key, value }) => state.set(key, value)),
    stateDelete: validated(text, (key) => state.delete(key)),
    partSent: validated(z.object({ sending: number, part: partReceipt }), async ({ sending: id, part }) => {
      const sending = sendings.get(id);
      sending?.sent.push(part);
      await sending?.onPart?.(part);
    }),
    openMedia: validated(z.object({ sending: number, index: number }), async ({ sending: id, index }) => {
      const { message, openMedia } = sendings.get(id) ?? {};
      // Only media of this message, because the process must not choose what the gateway opens.
      const part = message?.parts[index];
      if (openMedia === undefined || part?.type !== "media")
        throw new ChannelError("not_found", "The message has no such media");
      return streams.add(await openMedia(part));
    }),
    readStream: validated(number, (id) => streams.read(id)),
    cancelStream: validated(number, (id) => streams.cancel(id)),
  };
}

function validated<Parameter>(
  schema: z.ZodType<Parameter>,
  run: (parameter: Parameter) => unknown,
): (parameter: unknown) => unknown {
  return (parameter) => {
    const parsed = schema.safeParse(parameter);
    if (!parsed.success)
      throw new Error(`The gateway rejects what the channel passed: ${z.prettifyError(parsed.error)}`);
    return run(parsed.data);
  };
}
