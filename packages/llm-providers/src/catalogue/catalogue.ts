import type { Model, Warning } from "@signalbox/agent-core";
import { TABLE, VENDORS } from "./table.ts";

/**
 * The configuration of a model. Missing fields and quirks come from the table or from defaults. `null` removes a quirk
 * of the table.
 */
export type ModelOverride = { readonly id: string } & Partial<Omit<Model, "id" | "provider" | "api">>;

export interface CatalogueAccount {
  /** The name before the slash of a reference. */
  readonly name: string;
  readonly api: string;
  readonly models?: readonly ModelOverride[];
}

export interface ResolvedModel {
  readonly model: Model;
  /** Warns for instance that the id is unknown and which defaults are used. */
  readonly warnings: readonly Warning[];
}

export interface Catalogue {
  /** The known models of all accounts. */
  list(): readonly Model[];
  /**
   * Finds a model by `account/id`, or by its id if an account is known to have it. Ignores a snapshot date at the end
   * of an id (`-20251015`, `-2026-03-05`). An unknown id of a known account gets defaults and a warning.
   */
  resolve(reference: string): ResolvedModel | undefined;
}

const DATE = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Defaults for unknown models of other wire formats. */
const UNKNOWN = { contextWindow: 32_768, maxOutputTokens: 4_096 };

function entryFor(api: string, id: string): Model | undefined {
  // Both of OpenAI's APIs have the same models.
  const family = (api: string) => api.replace(/^openai-.*/, "openai");
  const find = (id: string) => TABLE.find((entry) => entry.id === id && family(entry.api) === family(api));
  return find(id) ?? find(id.replace(DATE, ""));
}

function build(account: CatalogueAccount, id: string): ResolvedModel {
  const override = account.models?.find((model) => model.id === id);
  const entry = entryFor(account.api, id);
  const place = { id, provider: account.name, api: account.api };
  if (entry !== undefined) {
    const quirks = { ...entry.quirks, ...override?.quirks };
    return { model: { ...entry, ...override, ...place, quirks }, warnings: [] };
  }
  const sizes = VENDORS.find(({ api }) => api === account.api)?.unknown ?? UNKNOWN;
  const model: Model = { ...sizes, input: ["text"], thinking: [], tools: "native", ...override, ...place };
  if (override?.contextWindow !== undefined) return { model, warnings: [] };
  const message =
    `The model "${account.name}/${id}" is not in the catalogue: a window of ${model.contextWindow} tokens, ` +
    `${model.maxOutputTokens} output tokens, text only, no thinking and no price are assumed. State what differs under models.providers.${account.name}.models.`;
  return { model, warnings: [{ code: "model_unknown", message }] };
}

/** Accounts that need no configuration except a key. */
export const defaultAccounts: readonly CatalogueAccount[] = [
  ...VENDORS.map(({ provider, api }) => ({ name: provider, api })),
  { name: "demo", api: "demo" },
];

/** Environment variables with the keys of the well-known providers. The first one that is set is used. */
export const KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  VENDORS.map(({ provider, keys }) => [provider, keys]),
);

/** Creates a catalogue of accounts. An account with the name of a default account replaces it. */
export function createCatalogue(accounts: readonly CatalogueAccount[] = []): Catalogue {
  const all = new Map(defaultAccounts.map((account) => [account.name, account]));
  for (const account of accounts) all.set(account.name, account);
  const list = (): Model[] =>
    [...all.values()].flatMap((account) => {
      const ids = new Set(account.models?.map((model) => model.id));
      // A server on another host may implement a vendor's API without offering the vendor's models.
      if (defaultAccounts.some(({ name, api }) => name === account.name && api === account.api))
        for (const entry of TABLE) if (entry.provider === account.name) ids.add(entry.id);
      return [...ids].map((id) => build(account, id).model);
    });
  return {
    list,
    resolve(reference) {
      const slash = reference.indexOf("/");
      const account = slash > 0 ? all.get(reference.slice(0, slash)) : undefined;
      if (account !== undefined) return build(account, reference.slice(slash + 1));
      const model = list().find(({ id }) => id === reference || id === reference.replace(DATE, ""));
      const owner = all.get(model?.provider ?? "");
      return owner && build(owner, reference);
    },
  };
}
