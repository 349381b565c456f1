import { createModels, KEY_VARIABLES, type Models } from "@signalbox/llm-providers";
import type { ConfigurationWrite, ProviderTrial, ProviderTrialResult } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import {
  isVendorUnreachable,
  listProviderModels,
  MODEL_VENDORS,
  type ModelVendor,
  TEST_MESSAGE,
  TEST_TOKENS,
} from "../../configure/model-vendors.ts";
import { providerEntry } from "../../configure/models.ts";
import { isSetupToken } from "../../configure/subscriptions/claude.ts";
import { type ClaudeSetup, openClaudeSetup } from "../../configure/subscriptions/claude-entry.ts";
import { openSubscriptions } from "../../configure/subscriptions/credentials.ts";
import { SubscriptionError } from "../../configure/subscriptions/errors.ts";
import type { GatewayContext } from "../../context.ts";
import { type ConfigurationAccess, getValue, setEntries, writeWithSecrets } from "./stored-secrets.ts";

type ModelSetupAdmin = Pick<AdminService, "tryProvider" | "setUpModel">;
type Access = Pick<ProviderTrial, "provider" | "apiKey" | "baseUrl">;

/** Checks a provider with one call, and makes one of its models the default. */
export function createModelSetup(ctx: GatewayContext, configuration: ConfigurationAccess): ModelSetupAdmin {
  const { options, env, redact, audit } = ctx;
  return {
    async tryProvider({ model: named, ...access }, actor) {
      const vendor = findVendor(access.provider);
      const { models, apiKey, baseUrl } = openProvider(ctx, vendor, access);
      audit.operation({ action: "tried", subject: `provider: ${vendor.id}` }, actor);
      const known = models.list().filter(({ provider }) => provider === vendor.id);
      // Anthropic's list of models is for keys.
      const listed =
        vendor.needs === "token"
          ? []
          : await listProviderModels(vendor.api, baseUrl, apiKey).catch(() => undefined);
      if (listed === undefined && vendor.needs === "address")
        return { ok: false, kind: "unreachable", detail: `No server responds at ${baseUrl}.`, models: [] };
      const offered = mergeModels(known, listed ?? []);
      const model = named ?? chooseModel(ctx, vendor, models, offered);
      if (model === undefined) return { ok: true, models: offered };
      const answer = await models.complete(`${vendor.id}/${model}`, TEST_MESSAGE, {
        maxOutputTokens: TEST_TOKENS,
      });
      const result: ProviderTrialResult = { ok: answer.ok, model, models: offered };
      if (answer.ok) return result;
      const kind = isVendorUnreachable(answer.error) ? "unreachable" : "refused";
      return { ...result, kind, detail: redact(answer.error.message) };
    },
    async setUpModel({ model, ...access }, actor) {
      const vendor = findVendor(access.provider);
      const { apiKey, baseUrl } = access;
      assertOwnKey(ctx, vendor, access);
      if (apiKey !== undefined) options.vault.add([apiKey]);
      if (vendor.needs === "token") return setUpClaude(model, access, actor);
      const file = `${vendor.id}-key`;
      const path = ["models", "providers", vendor.id];
      return writeWithSecrets({
        home: options.home,
        configuration,
        actor,
        secrets: new Map(apiKey === undefined ? [] : [[file, apiKey]]),
        getEdits(values, references) {
          const isNew = getValue(values, path) === undefined;
          const key = references.get(file);
          // A key in the environment needs no entry.
          const entries = {
            ...(isNew && (key !== undefined || baseUrl !== undefined) && { api: vendor.api }),
            ...(baseUrl !== undefined && { baseUrl }),
            ...(key !== undefined && { apiKey: key }),
            ...(vendor.needs === "address" && {
              models: addModel(getValue(values, [...path, "models"]), model),
            }),
          };
          return [
            ...(Object.keys(entries).length === 0 ? [] : setEntries(values, path, entries)),
            { path: ["agents", "defaults", "model"], value: `${vendor.id}/${model}` },
          ];
        },
      });
    },
  };

  async function setUpClaude(
    model: string,
    { provider, apiKey, baseUrl }: Access,
    actor: string,
  ): Promise<ConfigurationWrite> {
    const path = ["models", "providers", provider];
    const store = openSubscriptions(options.home, options.vault);
    const { credentials } = openClaude({ provider, apiKey, baseUrl });
    const written = await writeWithSecrets({
      home: options.home,
      configuration,
      actor,
      secrets: new Map(),
      getEdits: (values) => [
        ...setEntries(values, path, {
          api: "anthropic-messages",
          subscription: "claude",
          ...(baseUrl !== undefined && { baseUrl }),
        }),
        ...keepAsFallback(values, `${provider}/${model}`),
        { path: ["agents", "defaults", "model"], value: `${provider}/${model}` },
      ],
    });
    if (credentials !== undefined) await store.lock(provider, () => store.set(provider, credentials));
    return written;
  }

  /** @throws ApiError if the pasted text is no setup token */
  function openClaude({ provider, apiKey: pasted, baseUrl }: Access): ClaudeSetup {
    const store = openSubscriptions(options.home, options.vault);
    const before = ctx.config.current().loaded.config.models.providers[provider];
    try {
      return openClaudeSetup({ provider, baseUrl: baseUrl ?? before?.baseUrl, pasted, store });
    } catch (error) {
      if (!(error instanceof SubscriptionError)) throw error;
      throw new ApiError("bad_request", `${error.message}.`);
    }
  }

  function openProvider({ config }: GatewayContext, vendor: ModelVendor, access: Access) {
    assertOwnKey(ctx, vendor, access);
    const { apiKey, baseUrl } = access;
    if (apiKey !== undefined) options.vault.add([apiKey]);
    const before = config.current().loaded.config.models.providers[vendor.id];
    const entry =
      vendor.needs === "token"
        ? openClaude(access).entry
        : {
            ...(before === undefined ? { api: vendor.api } : providerEntry(before)),
            ...(apiKey !== undefined && { apiKey }),
            ...(baseUrl !== undefined && { baseUrl }),
          };
    const models = createModels({ [vendor.id]: entry }, { env, retry: { retries: 0 }, redact });
    const [problem] = models.problems;
    if (problem !== undefined) throw new ApiError("bad_request", redact(problem.message));
    const [key] = [apiKey ?? before?.apiKey ?? findKey(env, vendor.id)].flat();
    return { models, apiKey: key, baseUrl: baseUrl ?? before?.baseUrl ?? vendor.url ?? "" };
  }
}

function findVendor(id: string): ModelVendor {
  const vendor = MODEL_VENDORS.find((each) => each.id === id);
  if (vendor !== undefined) return vendor;
  const known = MODEL_VENDORS.map((each) => each.id).join(", ");
  throw new ApiError("not_found", `There is no provider ${id}.`, { remedy: `Choose one of ${known}.` });
}

/** @throws ApiError if existing keys or headers would be sent to a new address, or if there is no key or address */
function assertOwnKey({ config, env }: GatewayContext, vendor: ModelVendor, access: Access): void {
  const { apiKey, baseUrl } = access;
  const before = config.current().loaded.config.models.providers[vendor.id];
  const isToken = apiKey !== undefined && isSetupToken(apiKey);
  if (isToken && vendor.needs !== "token")
    throw new ApiError("bad_request", "This is the setup token of a Claude plan, not an API key.", {
      remedy: "Choose the provider Claude plan.",
    });
  if (vendor.needs === "token" && before !== undefined && before.subscription !== "claude")
    throw new ApiError("conflict", `models.providers.${vendor.id} is another provider.`, {
      remedy: "Rename it in the configuration first.",
    });
  const hasKey =
    vendor.needs === "token"
      ? before !== undefined
      : before?.apiKey !== undefined || findKey(env, vendor.id) !== undefined;
  if (apiKey === undefined && hasKey && baseUrl !== undefined && baseUrl !== before?.baseUrl)
    throw new ApiError("bad_request", "A new address needs a new key.", {
      remedy: "Enter the key of this server, so that no other key is sent to it.",
    });
  // A header can contain a key.
  if (baseUrl !== undefined && baseUrl !== before?.baseUrl && Object.keys(before?.headers ?? {}).length > 0)
    throw new ApiError("conflict", `models.providers.${vendor.id} has headers for its address.`, {
      remedy:
        "Remove or replace them in the configuration first, so that they are not sent to another server.",
    });
  if (baseUrl !== undefined && !/^https?:\/\//i.test(baseUrl))
    throw new ApiError("bad_request", "The address must start with http:// or https://.");
  const isMissing =
    vendor.needs === "address"
      ? baseUrl === undefined && before?.baseUrl === undefined
      : apiKey === undefined && !hasKey;
  if (isMissing) throw new ApiError("bad_request", `${vendor.label} needs ${needs[vendor.needs]}.`);
}

const needs = { key: "a key", address: "an address", token: "a setup token" } as const;

/** Returns the edit that makes the previous default model a fallback, unless fallbacks are configured. */
function keepAsFallback(values: unknown, model: string): { path: string[]; value: string[] }[] {
  const before = getValue(values, ["agents", "defaults", "model"]);
  const path = ["agents", "defaults", "fallbacks"];
  const isNeeded = typeof before === "string" && before !== model && getValue(values, path) === undefined;
  return isNeeded ? [{ path, value: [before] }] : [];
}

function findKey(env: GatewayContext["env"], provider: string): string | undefined {
  return KEY_VARIABLES[provider]?.map((variable) => env[variable]).find(Boolean);
}

/** Returns the models with known limits that the provider lists, followed by its other models. */
function mergeModels(
  known: ReturnType<Models["list"]>,
  listed: readonly string[],
): ProviderTrialResult["models"] {
  const isListed = (id: string): boolean => listed.length === 0 || listed.includes(id);
  const offered = known.filter(({ id }) => isListed(id));
  const first = offered.length > 0 ? offered : known;
  const others = listed.filter((id) => !first.some((model) => model.id === id));
  return [
    ...first.map(({ id, name }) => ({ id, name, isKnown: true })),
    ...others.toSorted().map((id) => ({ id, isKnown: false })),
  ];
}

/** Returns the configured model of the provider, a good one, or the first one of a server. */
function chooseModel(
  { config }: GatewayContext,
  { id: provider }: ModelVendor,
  { defaultReference }: Models,
  offered: ProviderTrialResult["models"],
): string | undefined {
  const prefix = `${provider}/`;
  const { model } = config.current().loaded.config.agents.defaults;
  const [reference] = [model, defaultReference].filter((each) => each?.startsWith(prefix) === true);
  const id = reference?.slice(prefix.length);
  return offered.some((each) => each.id === id) ? id : offered[0]?.id;
}

/** Adds a model to the list of a server, unless the list has it. */
function addModel(list: unknown, id: string): unknown[] {
  const before: unknown[] = Array.isArray(list) ? list : [];
  const isThere = before.some(
    (each) => typeof each === "object" && each !== null && "id" in each && each.id === id,
  );
  return isThere ? before : [...before, { id }];
}
