import {
  type ChannelDefinition,
  type ChannelErrorCode,
  type ChannelLogger,
  createInMemoryCache,
  createInMemoryState,
  type Identity,
  isChannelError,
  reasonOf,
  systemClock,
} from "@signalbox/channel";
import { recordReachability } from "./reachability.ts";

/** Time limit for the test of an account, in milliseconds. */
const TRY_MS = 20_000;

/** An account whose settings its channel has validated. */
interface AccountToTry {
  readonly definition: ChannelDefinition;
  readonly account: string;
  readonly config: unknown;
}

/** The result of testing an account with its platform. */
export type AccountTrial = { readonly ok: true; readonly name: string | undefined } | AccountFailure;

export interface AccountFailure {
  readonly ok: false;
  /** `unreachable` if the platform did not respond, is down or limits requests. It has then not judged the settings. */
  readonly kind: "refused" | "unreachable";
  /** The platform's explanation, or the host and the cause of the failed request. */
  readonly detail: string;
  /** Names of the settings that can be wrong. Empty if the platform was not reached. */
  readonly settings: readonly string[];
}

/** Errors after which the same settings may work later. */
const UNREACHED: ReadonlySet<ChannelErrorCode> = new Set(["transient", "rate_limited", "unknown_outcome"]);

/** Returns true if an error does not show that the platform has refused the account. */
export function isUnreached(error: unknown): boolean {
  if (isChannelError(error)) return UNREACHED.has(error.code);
  return error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError");
}

/**
 * Tests the credentials of an account with its platform, without storing anything. Messages that arrive during the test
 * are rejected, and the platform delivers them again. The test ends after at most 20 s.
 */
export async function tryAccount({ definition, account, config }: AccountToTry): Promise<AccountTrial> {
  const { fetch, describe } = recordReachability(globalThis.fetch);
  try {
    const self = await openAndIdentify({ definition, account, config }, fetch);
    return { ok: true, name: self?.name };
  } catch (error) {
    const failedRequest = describe();
    // A host that responds with other errors than 5xx was reached.
    if (isUnreached(error))
      return {
        ok: false,
        kind: "unreachable",
        detail: failedRequest ?? describeUnreached(error),
        settings: [],
      };
    return {
      ok: false,
      kind: "refused",
      detail: reasonOf(error),
      settings: getSuspects(definition, config, error),
    };
  }
}

function describeUnreached(error: unknown): string {
  return isChannelError(error) ? error.message : `no response within ${TRY_MS / 1_000} s`;
}

async function openAndIdentify(
  { definition, account, config }: AccountToTry,
  fetch: typeof globalThis.fetch,
): Promise<Identity | undefined> {
  const quiet = (): void => {};
  const logger: ChannelLogger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(TRY_MS)]);
  try {
    const channel = await definition.create({
      config,
      account,
      logger,
      signal,
      fetch,
      clock: systemClock,
      cache: createInMemoryCache({ clock: systemClock }),
      state: createInMemoryState(),
      emit: async () => "rejected",
    });
    await channel.start(signal);
    try {
      return (await channel.identify?.(signal)) ?? channel.self();
    } finally {
      await channel.stop({ drainMs: 0 });
    }
  } finally {
    ending.abort();
  }
}

/** Returns the settings that the error names. If it names none, all secrets of the account can be wrong. */
function getSuspects(
  { meta: { fields } }: ChannelDefinition,
  config: unknown,
  error: unknown,
): readonly string[] {
  if (!isChannelError(error)) return [];
  if (error.settings !== undefined) return error.settings.filter((name) => Object.hasOwn(fields, name));
  if (error.code !== "auth" || typeof config !== "object" || config === null) return [];
  const values = new Map(Object.entries(config));
  return Object.keys(fields).filter(
    (name) => fields[name]?.secret === true && values.get(name) !== undefined,
  );
}

/**
 * Returns the labels of settings and the places where the platform shows them, one line for each.
 *
 * @example `Bot token: From @BotFather: /newbot, or /mybots > API Token`
 */
export function describeSettings(
  { meta: { fields } }: ChannelDefinition,
  settings: readonly string[],
): readonly string[] {
  return settings.map((name) => {
    const { label = name, hint } = fields[name] ?? {};
    return hint === undefined ? label : `${label}: ${hint}`;
  });
}
