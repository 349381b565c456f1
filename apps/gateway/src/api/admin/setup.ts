import { createModels, KEY_VARIABLES } from "@signalbox/llm-providers";
import type { Setup, SetupChannel, SetupProvider } from "@signalbox/protocol";
import type { AdminService } from "@signalbox/server";
import { INSTALLED } from "../../configure/installed.ts";
import { MODEL_VENDORS } from "../../configure/model-vendors.ts";
import type { GatewayContext } from "../../context.ts";
import { createAccountSetup } from "./account-setup.ts";
import { createModelSetup } from "./model-setup.ts";
import type { ConfigurationAccess } from "./stored-secrets.ts";

type SetupAdmin = Pick<AdminService, "setup" | "tryProvider" | "setUpModel" | "setUpAccount">;

/**
 * Sets up models and channel accounts with the checks of `signalbox init`. Keys and tokens are stored in separate
 * files, as there.
 */
export function createSetupAdmin(ctx: GatewayContext, configuration: ConfigurationAccess): SetupAdmin {
  return {
    async setup() {
      const { editable, reason } = await configuration.configuration();
      const { config } = ctx.config.current().loaded;
      const setup: Setup = {
        editable,
        reason,
        model: config.agents.defaults.model,
        providers: listProviders(ctx),
        channels: listChannels(ctx),
      };
      return setup;
    },
    ...createModelSetup(ctx, configuration),
    ...createAccountSetup(ctx, configuration),
  };
}

/** Any address, which nothing is sent to: only the packages of the wire formats are read. */
const LISTED = "http://127.0.0.1";

function listProviders({ config, env }: GatewayContext): SetupProvider[] {
  const { loaded } = config.current();
  const models = createModels(
    Object.fromEntries(MODEL_VENDORS.map(({ id, api }) => [id, { api, baseUrl: LISTED }])),
  );
  return MODEL_VENDORS.map(({ id, label, needs, keyPage }) => ({
    id,
    label,
    needs,
    keyPage,
    isConfigured:
      loaded.config.models.providers[id] !== undefined ||
      (KEY_VARIABLES[id] ?? []).some((variable) => env[variable] !== undefined && env[variable] !== ""),
    missingPackages: [...INSTALLED.missing(models.requires(id))],
  }));
}

function listChannels({ config, accounts }: GatewayContext): SetupChannel[] {
  const { channels } = config.current().loaded.config;
  return accounts.definitions.map(({ id, meta: { label, fields, setup, requires = [] } }) => ({
    id,
    label,
    fields: Object.entries(fields).map(([name, field]) => ({
      name,
      label: field.label,
      isSecret: field.secret === true,
      hint: field.hint,
      options: field.options?.map((option) => ({ ...option })),
    })),
    steps: (setup ?? [{ fields: Object.keys(fields) }]).map((step) => ({
      text: step.text,
      url: step.url,
      fields: [...(step.fields ?? [])],
      when: step.when === undefined ? undefined : { ...step.when },
    })),
    accounts: Object.keys(channels[id]?.accounts ?? {}),
    missingPackages: [...INSTALLED.missing(requires)],
  }));
}
