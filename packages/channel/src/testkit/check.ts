import type { Capabilities } from "../contract/capabilities.ts";
import type { ChannelDefinition } from "../contract/definition.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import type { ChannelHarness } from "./harness.ts";

/** The channel under test. */
export interface Subject<Config, Address> {
  readonly definition: ChannelDefinition<Config, Address>;
  readonly harness: ChannelHarness<Address>;
  readonly seed: number;
  /** Time limit for asynchronous effects, in milliseconds. */
  readonly waitMs: number;
  /** Starts an account against a fake platform, by default a new one. */
  open(options?: BenchOptions<Address>): Promise<Bench<Address>>;
}

/** A check of the suite. Each check is a row of the matrix. */
export interface Check {
  readonly group: string;
  readonly name: string;
  /**
   * Returns the reason why the check does not apply to a channel with these capabilities, or `undefined` if it applies.
   */
  applies?(definition: ChannelDefinition): string | undefined;
  run<Config, Address>(subject: Subject<Config, Address>): Promise<void>;
}

/**
 * An `applies` for checks of a capability.
 *
 * @param otherwise the reason why the check does not apply to a channel without it
 */
export function requires(capability: keyof Capabilities, otherwise: string): NonNullable<Check["applies"]> {
  return ({ capabilities }) =>
    capabilities[capability] === undefined || capabilities[capability] === false ? otherwise : undefined;
}

/** An `applies` for checks that need a remote platform. */
export function requiresPlatform({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.transports.includes("internal") ? "no platform" : undefined;
}

/** An `applies` for checks of acknowledgements. */
export function requiresAcknowledgements({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.intake === "handed_over" ? "the platform forgets what it has handed over" : undefined;
}

/** An `applies` for checks of idempotency keys of the platform. */
export function requiresKeys({ capabilities }: ChannelDefinition): string | undefined {
  return capabilities.delivery.idempotencyKey === undefined ? "no idempotency keys" : undefined;
}

/** An `applies` for checks of idempotency keys for drafts. */
export function requiresDraftKeys({ capabilities: { delivery } }: ChannelDefinition): string | undefined {
  return (delivery.draftKey ?? delivery.idempotencyKey) === undefined ? "no idempotency keys" : undefined;
}

/** Returns a value that the harness must provide for a check that applies. */
export function required<T>(value: T | undefined, what: string): T {
  if (value === undefined)
    throw new Error(`The harness has no ${what}. Add it, or skip this check with a reason.`);
  return value;
}

/** Returns a method that the harness, or a channel with these capabilities, must have for a check that applies. */
export function method<Of, Name extends keyof Of & string>(of: Of, name: Name): NonNullable<Of[Name]> {
  const found: unknown = required(of[name], name);
  if (typeof found !== "function") throw new TypeError(`${name} is not a method.`);
  return found.bind(of);
}
