import * as z from "zod/mini";
import { ConfigurationWrite } from "./configuration.ts";

/** A provider of models that can be set up without editing the configuration. */
export const SetupProvider = z.object({
  id: z.string(),
  label: z.string(),
  /** The setting that gives access to it: a key, the address of a server, or the setup token of a Claude plan. */
  needs: z.enum(["key", "address", "token"]),
  /** Page of the vendor on which keys are created. */
  keyPage: z.optional(z.string()),
  /** True if the configuration or the environment has a key or an address. */
  isConfigured: z.boolean(),
  /** npm packages that must be installed on the machine of the gateway first. */
  missingPackages: z.array(z.string()),
});
export type SetupProvider = z.infer<typeof SetupProvider>;

/** A setting of a channel account. */
export const SetupField = z.object({
  name: z.string(),
  label: z.string(),
  /** True if the value is stored in a separate file and never shown. */
  isSecret: z.boolean(),
  hint: z.optional(z.string()),
  /** All possible values, the default one first. Default: any text. */
  options: z.optional(
    z.array(z.object({ value: z.string(), label: z.string(), hint: z.optional(z.string()) })),
  ),
});
export type SetupField = z.infer<typeof SetupField>;

/** A step of connecting an account to its platform. */
export const SetupStep = z.object({
  /** Instructions. `{webhook}` stands for the URL to which the platform sends events. */
  text: z.optional(z.string()),
  /** Page of the platform on which the step takes place. */
  url: z.optional(z.string()),
  /** Names of the fields to enter after the step. */
  fields: z.array(z.string()),
  /** The step applies only if these fields have these values; `""` stands for no value. Default: always. */
  when: z.optional(z.record(z.string(), z.string())),
});
export type SetupStep = z.infer<typeof SetupStep>;

/** A channel that can be set up without editing the configuration. */
export const SetupChannel = z.object({
  id: z.string(),
  label: z.string(),
  /** All settings of an account, including those that no step asks for. */
  fields: z.array(SetupField),
  /** In the order of the platform's own setup. */
  steps: z.array(SetupStep),
  /** Names of the configured accounts. */
  accounts: z.array(z.string()),
  missingPackages: z.array(z.string()),
});
export type SetupChannel = z.infer<typeof SetupChannel>;

/** Response of `GET /api/setup`. */
export const Setup = z.object({
  /** False if the configuration can only be changed on the machine of the gateway. `reason` explains why. */
  editable: z.boolean(),
  reason: z.optional(z.string()),
  /** The model of agents that name none, as `provider/model`. */
  model: z.optional(z.string()),
  providers: z.array(SetupProvider),
  channels: z.array(SetupChannel),
});
export type Setup = z.infer<typeof Setup>;

const ProviderAccess = {
  /** One of the providers in `GET /api/setup`. */
  provider: z.string().check(z.minLength(1), z.maxLength(100)),
  /** The key or setup token. Default: the configured one. A new address requires a new one: none is sent elsewhere. */
  apiKey: z.optional(z.string().check(z.minLength(1), z.maxLength(2_000))),
  /** Default: the configured address, or the vendor's. */
  baseUrl: z.optional(z.string().check(z.minLength(1), z.maxLength(2_000))),
};

/** Body of `POST /api/setup/provider`. */
export const ProviderTrial = z.strictObject({
  ...ProviderAccess,
  /** The id of the model to call. Default: a good one of the provider. */
  model: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
});
export type ProviderTrial = z.infer<typeof ProviderTrial>;

/** Response of `POST /api/setup/provider`. */
export const ProviderTrialResult = z.object({
  /** True if the model answered. */
  ok: z.boolean(),
  /** The reason why it did not answer, in the words of the provider. */
  detail: z.optional(z.string()),
  /** `unreachable` if the provider did not respond, is down or limits requests. Default: it refuses the request. */
  kind: z.optional(z.enum(["refused", "unreachable"])),
  /** Id of the model that was called. Absent if the provider lists none. */
  model: z.optional(z.string()),
  /** The models of the provider, those with known limits and prices first. */
  models: z.array(
    z.object({
      id: z.string(),
      name: z.optional(z.string()),
      /** True if Signalbox knows its limits and prices. */
      isKnown: z.boolean(),
    }),
  ),
});
export type ProviderTrialResult = z.infer<typeof ProviderTrialResult>;

/** Body of `POST /api/setup/model`: stores the key, and makes the model the default of all agents. */
export const ModelSetup = z.strictObject({
  ...ProviderAccess,
  /** The id of the model, without the name of the provider. */
  model: z.string().check(z.minLength(1), z.maxLength(200)),
});
export type ModelSetup = z.infer<typeof ModelSetup>;

/** Body of `POST /api/setup/account`: checks an account with its platform, and stores it. */
export const AccountSetup = z.strictObject({
  channel: z.string().check(z.minLength(1), z.maxLength(100)),
  account: z._default(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,60}$/)), "main"),
  /** Settings by name. Settings that are configured already and not named here stay. */
  settings: z.record(z.string().check(z.maxLength(100)), z.string().check(z.maxLength(10_000))),
  /** The id of a person on the platform, who becomes an owner. */
  owner: z.optional(z.string().check(z.regex(/^\S{1,200}$/))),
  /** False stores the account even if the platform refuses it. */
  check: z._default(z.boolean(), true),
});
export type AccountSetup = z.infer<typeof AccountSetup>;

/** Response of `POST /api/setup/account`. Nothing is stored unless `written` is present. */
export const AccountSetupResult = z.object({
  /** True if the settings are valid and the platform accepts the account, or `check` is false. */
  ok: z.boolean(),
  /** Name of the bot on the platform, if the platform reports it. */
  name: z.optional(z.string()),
  /**
   * The reason why the account was not accepted: the platform refuses it, or it could not be reached, which says
   * nothing about the settings. Absent if settings are invalid.
   */
  kind: z.optional(z.enum(["refused", "unreachable"])),
  /** The explanation of the platform, or the host and the cause of the failed request. */
  detail: z.optional(z.string()),
  /** Names of the settings that the platform may refuse. */
  settings: z.optional(z.array(z.string())),
  /** Invalid settings. */
  issues: z.array(z.object({ field: z.optional(z.string()), message: z.string() })),
  written: z.optional(ConfigurationWrite),
});
export type AccountSetupResult = z.infer<typeof AccountSetupResult>;
