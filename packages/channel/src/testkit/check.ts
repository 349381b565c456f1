import type { Capabilities } from "../contract/capabilities.ts";
import type { ChannelDefinition } from "../contract/definition.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import type { ChannelHarness } from "./harness.ts";

/** What a check works with. */
export interface Subject<Config, Address> {
  readonly definition: ChannelDefinition<Config, Address>;
  readonly harness: ChannelHarness<Address>;
  readonly seed: number;
  /** How long what comes by itself may take. */
  readonly waitMs: number;
  /** A channel against a stand-in, a new one unless told otherwise. */
  open(options?: BenchOptions<Address>): Promise<Bench<Address>>;
}

/** One line of the matrix. */
export interface Check {
  readonly group: string;
  readonly name: string;
  /** Why it does not apply to a channel with these capabilities; undefined where it does. */
  applies?(definition: ChannelDefinition): string | undefined;
  run<Config, Address>(subject: Subject<Config, Address>): Promise<void>;
}

/** For checks of a capability; `without` says why they do not apply to a channel that does not have it. */
export function only(capability: keyof Capabilities, without: string): NonNullable<Check["applies"]> {
  return ({ capabilities }) =>
    capabilities[capability] === undefined || capabilities[capability] === false ? without : undefined;
}

/** For checks that need a platform between the channel and people. */
export function withPlatform({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.transports.includes("internal") ? "no platform" : undefined;
}

/** For checks of what the platform's own memory of keys is for. */
export function withKeys({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.delivery.idempotencyKey === undefined ? "no idempotency keys" : undefined;
}

/** What the harness must bring for a check that applies. */
export function needed<T>(value: T | undefined, what: string): T {
  if (value === undefined)
    throw new Error(`The harness has no ${what}: add it, or skip this test with a reason.`);
  return value;
}

/** A method that the harness, or a channel by its capabilities, must have for a check that applies. */
export function method<Of, Name extends keyof Of & string>(of: Of, name: Name): NonNullable<Of[Name]> {
  const found: unknown = needed(of[name], name);
  if (typeof found !== "function") throw new TypeError(`${name} is no method`);
  return found.bind(of);
}
