import { defaultAccounts, KEY_VARIABLES, type ModelOverride } from "../catalogue/catalogue.ts";
import { VENDORS } from "../catalogue/table.ts";
import type { FetchLike, ProviderConfig, Providers } from "../provider/provider.ts";
import type { Account } from "../runner/runner.ts";
import { entryOf, withoutUndefined } from "../shared/json.ts";
import { didYouMean } from "../shared/suggest.ts";

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
 * One provider. `anthropic`, `openai`, `google` and `mistral` need only a key. An entry with an explicit `baseUrl:
 * undefined` is disabled, so that an unset variable never sends a conversation to the vendor.
 */
export interface ProviderEntry extends Pick<ProviderConfig, "baseUrl" | "headers" | "timeouts"> {
  /** The wire format, for instance `openai-chat`. Well-known providers have a default. */
  readonly api?: string;
  /** One key, or several to try in order. */
  readonly apiKey?: string | readonly string[] | undefined;
  /**
   * Sends the requests of this provider and adds the credentials, for credentials that expire. Replaces `apiKey` and
   * the keys of the environment. Requires `baseUrl`.
   */
  readonly fetch?: FetchLike;
  /** Models that are missing from the built-in table, and corrections of models in it. */
  readonly models?: readonly ModelOverride[];
}

/** Providers by name. The name is the text before the slash of a reference. */
export type ProviderEntries = Readonly<Record<string, ProviderEntry>>;

const FIELDS: readonly string[] = ["api", "apiKey", "baseUrl", "headers", "timeouts", "models", "fetch"];

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the account of an entry, or the reason why the provider is disabled. An invalid entry never becomes an
 * account, because its key and conversations could go to the vendor instead of the intended server.
 */
export function createAccount(
  name: string,
  entry: ProviderEntry,
  providers: Providers,
  env: Environment | undefined,
): Account | ModelProblem {
  const invalid = (field: string, message: string): ModelProblem => {
    return { code: "invalid_provider", provider: name, field, message };
  };
  const fieldOf = (field: string): string => `\`${field}\` of provider \`${name}\``;
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    return invalid(
      unknown,
      endSentence(`Unknown field \`${unknown}\` in provider \`${name}\``, unknown, FIELDS),
    );
  const apis = [...providers.keys()];
  const api = entry.api ?? defaultAccounts.find((account) => account.name === name)?.api;
  if (api === undefined)
    return invalid("api", `Provider \`${name}\` has no \`api\`. Set it to one of ${apis.join(", ")}.`);
  if (!providers.has(api)) {
    const what = `${fieldOf("api")} is \`${api}\`, which is none of ${apis.join(", ")}`;
    return invalid("api", endSentence(what, api, apis));
  }
  const { baseUrl, headers, timeouts, fetch } = entry;
  if ("baseUrl" in entry && !isHttpUrl(baseUrl))
    return invalid("baseUrl", `${fieldOf("baseUrl")} is not an http(s) address.`);
  if (fetch !== undefined && baseUrl === undefined)
    return invalid("baseUrl", `Provider \`${name}\` has a \`fetch\` and therefore needs a \`baseUrl\`.`);
  if (!isValidHeaders({ ...headers }))
    return invalid("headers", `${fieldOf("headers")} contains a name or a value that HTTP does not allow.`);
  const keys = fetch === undefined ? getKeys(name, entry, env) : [];
  const invalidKey = keys.find((key) => !isValidHeaders({ key }));
  if (invalidKey !== undefined) {
    const field = entryOf(KEY_VARIABLES, name)?.find((key) => env?.[key] === invalidKey) ?? "apiKey";
    const what = "contains a character that no key has, such as a curly quotation mark or a line break";
    return invalid(field, `${fieldOf(field)} ${what}.`);
  }
  // The vendors' own servers need a key.
  if (keys.length === 0 && fetch === undefined && VENDORS.some((vendor) => vendor.api === api))
    return missingKey(name, env);
  return {
    name,
    api,
    keys,
    ...withoutUndefined({ baseUrl: baseUrl?.replace(/\/+$/, ""), headers, timeouts, fetch }),
  };
}

/** Returns the problem of a missing key, including its environment variable if the environment is used. */
export function missingKey(provider: string, env: Environment | undefined): ModelProblem {
  const variable = entryOf(KEY_VARIABLES, provider)?.[0];
  const how = env === undefined ? "pass `env: process.env` and set" : "set the environment variable";
  const or = variable === undefined ? "" : `, or ${how} ${variable}`;
  const message = `Provider \`${provider}\` has no key. Set \`apiKey\`${or}.`;
  return { code: "missing_key", provider, message, ...withoutUndefined({ variable }) };
}

function endSentence(sentence: string, written: string, words: readonly string[]): string {
  return `${sentence}${didYouMean(written, words) || "."}`;
}

function getKeys(name: string, { apiKey }: ProviderEntry, env: Environment | undefined): readonly string[] {
  const given = [apiKey ?? []].flat().filter((key) => key !== "");
  if (given.length > 0) return given;
  return (entryOf(KEY_VARIABLES, name) ?? []).flatMap((variable) => env?.[variable] || []).slice(0, 1);
}

function isValidHeaders(headers: Record<string, string>): boolean {
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
