import { defaultAccounts, KEY_VARIABLES, type ModelOverride } from "../catalogue/catalogue.ts";
import { VENDORS } from "../catalogue/table.ts";
import type { ProviderConfig, Providers } from "../provider/provider.ts";
import type { Account } from "../runner/runner.ts";
import { entryOf, stated } from "../shared/json.ts";

/**
 * Why a provider or a reference cannot be used.
 * - `missing_key`: the provider has no key. `variable` is the environment variable that would hold it, if there is one.
 * - `invalid_provider`: the provider is off because of `field`, or because its host turned it off.
 * - `unknown_provider`: no provider has this name.
 * - `unknown_model`: the provider has no model of this name (`strict` only).
 */
export type ModelProblem = { readonly provider: string; readonly message: string } & (
  | { readonly code: "missing_key"; readonly variable?: string }
  | { readonly code: "invalid_provider"; readonly field?: string }
  | { readonly code: "unknown_provider" | "unknown_model" }
);

/**
 * One provider. `anthropic`, `openai`, `google` and `mistral` need only a key. An entry with an own `baseUrl` of
 * `undefined` is off, so that an unset variable never sends a conversation to the vendor.
 */
export interface ProviderEntry extends Pick<ProviderConfig, "baseUrl" | "headers" | "timeouts"> {
  /** The wire format, for instance `openai-chat`. The well-known providers have their own. */
  readonly api?: string;
  /** One key, or several that are tried in order. */
  readonly apiKey?: string | readonly string[] | undefined;
  /** Models that are missing from the built-in table, and corrections to those in it. */
  readonly models?: readonly ModelOverride[];
}

/** Providers by name, which is the part of a reference before the slash. */
export type ProviderEntries = Readonly<Record<string, ProviderEntry>>;

const FIELDS = new Set<string>(["api", "apiKey", "baseUrl", "headers", "timeouts", "models"]);

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the account of an entry, or why the provider is off. An invalid entry never becomes an account: its key and
 * conversations could go to the vendor instead of the intended server.
 */
export function accountOf(
  name: string,
  entry: ProviderEntry,
  providers: Providers,
  env: Environment | undefined,
): Account | ModelProblem {
  const invalid = (field: string, why: string): ModelProblem => {
    const message = `The provider "${name}" is off: \`${field}\` ${why}.`;
    return { code: "invalid_provider", provider: name, field, message };
  };
  const unknown = Object.keys(entry).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return invalid(unknown, "is no field of a provider");
  const api = entry.api ?? defaultAccounts.find((account) => account.name === name)?.api;
  if (api === undefined) return invalid("api", "is missing");
  if (providers.get(api) === undefined)
    return invalid("api", `names "${api}", which is none of ${[...providers.keys()].join(", ")}`);
  const { baseUrl, headers, timeouts } = entry;
  if ("baseUrl" in entry && !isHttpUrl(baseUrl)) return invalid("baseUrl", "is no http(s) address");
  if (!canBeSent({ ...headers }))
    return invalid("headers", "holds a name or a value that no header can have");
  const keys = keysOf(name, entry, env);
  const broken = keys.find((key) => !canBeSent({ key }));
  if (broken !== undefined) {
    const variable = entryOf(KEY_VARIABLES, name)?.find((variable) => env?.[variable] === broken);
    const why = "holds a character that no key has, such as a curly quotation mark or a line break";
    return invalid(variable ?? "apiKey", why);
  }
  // The vendors' own servers need a key.
  if (keys.length === 0 && VENDORS.some((vendor) => vendor.api === api)) return missingKey(name, env);
  return { name, api, keys, ...stated({ baseUrl: baseUrl?.replace(/\/+$/, ""), headers, timeouts }) };
}

/**
 * Returns the problem of a missing key, with the environment variable that would hold it if the environment is used.
 */
export function missingKey(provider: string, env: Environment | undefined): ModelProblem {
  const variable = entryOf(KEY_VARIABLES, provider)?.[0];
  const take = env === undefined ? "pass `env: process.env` and set" : "set the environment variable";
  const or = variable === undefined ? "" : `, or ${take} ${variable}`;
  const message = `The provider "${provider}" has no key: give it an \`apiKey\`${or}.`;
  return { code: "missing_key", provider, message, ...stated({ variable }) };
}

function keysOf(name: string, { apiKey }: ProviderEntry, env: Environment | undefined): readonly string[] {
  const given = [apiKey ?? []].flat().filter((key) => key !== "");
  if (given.length > 0) return given;
  return (entryOf(KEY_VARIABLES, name) ?? []).flatMap((variable) => env?.[variable] || []).slice(0, 1);
}

function canBeSent(headers: Record<string, string>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

function isHttpUrl(text: unknown): boolean {
  return typeof text === "string" && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
