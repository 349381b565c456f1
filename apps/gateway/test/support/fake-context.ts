import { ALL_SEATS } from "@signalbox/home";
import { createLogger } from "@signalbox/telemetry/logger";
import type { GatewayContext } from "../../src/context.ts";

/** A context with only the given parts and a silent logger, for code that uses nothing else of it. */
export function fakeContext(parts: { readonly [Part in keyof GatewayContext]?: unknown }): GatewayContext {
  return Object.assign(Object.create(null), {
    logger: createLogger("silent", (text) => text),
    redact: (text: string) => text,
    now: Date.now,
    tracer: { note() {} },
    seats: ALL_SEATS,
    getAccount: () => undefined,
    getChannel: () => undefined,
    getCapabilities: () => undefined,
    claiming: new Set(),
    passing: new Map(),
    ...parts,
  });
}
