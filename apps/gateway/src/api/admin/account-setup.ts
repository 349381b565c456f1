import type { ChannelDefinition } from "@signalbox/channel";
import type { AccountSetup, AccountSetupResult } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import { tryAccount } from "../../configure/try-account.ts";
import type { GatewayContext } from "../../context.ts";
import { type ConfigurationAccess, getValue, setEntries, writeWithSecrets } from "./stored-secrets.ts";

/** Checks an account with its platform, and stores it. */
export function createAccountSetup(
  ctx: GatewayContext,
  configuration: ConfigurationAccess,
): Pick<AdminService, "setUpAccount"> {
  const { options, redact, accounts, config } = ctx;
  return {
    async setUpAccount(setup, actor) {
      const { channel, account, check } = setup;
      const definition = accounts.definitions.find(({ id }) => id === channel);
      if (definition === undefined) throw new ApiError("not_found", `There is no channel ${channel}.`);
      const settings = readSettings(definition, setup);
      options.vault.add(getSecrets(definition, settings).map(([, value]) => value));
      const before = config.current().loaded.config.channels[channel]?.accounts[account];
      const checked = await definition.config["~standard"].validate({ ...before, ...settings });
      if (checked.issues !== undefined)
        return {
          ok: false,
          issues: checked.issues.map(({ path = [], message }) => ({
            field: getFieldName(path[0]),
            message: redact(message),
          })),
        };
      let name: string | undefined;
      if (check) {
        const trial = await tryAccount({ definition, account, config: checked.value });
        if (!trial.ok)
          return {
            ok: false,
            kind: trial.kind,
            detail: redact(trial.detail),
            settings: [...trial.settings],
            issues: [],
          };
        name = trial.name;
      }
      const written = await write(definition, setup, settings, actor);
      const result: AccountSetupResult = { ok: true, name, issues: [], written };
      return result;
    },
  };

  function write(
    definition: ChannelDefinition,
    { channel, account, owner }: AccountSetup,
    settings: Readonly<Record<string, string | boolean>>,
    actor: string,
  ) {
    const getFileName = (field: string): string => `${channel}-${account}-${field}`;
    const secrets = getSecrets(definition, settings);
    return writeWithSecrets({
      home: options.home,
      configuration,
      actor,
      secrets: new Map(secrets.map(([field, value]) => [getFileName(field), value])),
      getEdits(values, references) {
        const entries = Object.fromEntries(
          Object.entries(settings).map(([field, value]) => [
            field,
            references.get(getFileName(field)) ?? value,
          ]),
        );
        return [
          ...setEntries(values, ["channels", channel, "accounts", account], entries),
          ...(owner === undefined ? [] : addOwner(values, `${channel}:${owner}`)),
        ];
      },
    });
  }
}

/**
 * Returns the settings that were entered. `true` and `false` of a choice are booleans. Numbers stay strings, because
 * they may be ids.
 *
 * @throws ApiError for a setting that the channel does not have
 */
function readSettings(
  { meta: { label, fields } }: ChannelDefinition,
  { settings }: AccountSetup,
): Record<string, string | boolean> {
  const entered = Object.entries(settings).filter(([, value]) => value.trim() !== "");
  return Object.fromEntries(
    entered.map(([name, value]) => {
      if (!Object.hasOwn(fields, name))
        throw new ApiError("bad_request", `${label} has no setting ${name}.`, {
          remedy: `Its settings are ${Object.keys(fields).join(", ")}.`,
        });
      const isBoolean = fields[name]?.secret !== true && (value === "true" || value === "false");
      return [name, isBoolean ? value === "true" : value.trim()];
    }),
  );
}

function getSecrets(
  { meta: { fields } }: ChannelDefinition,
  settings: Readonly<Record<string, string | boolean>>,
): [string, string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] =>
    fields[name]?.secret === true && typeof value === "string" ? [[name, value]] : [],
  );
}

function addOwner(values: unknown, person: string) {
  const owners = getValue(values, ["access", "owners"]);
  if (!Array.isArray(owners)) return [{ path: ["access", "owners"], value: [person] }];
  return owners.includes(person) ? [] : [{ path: ["access", "owners", owners.length], value: person }];
}

function getFieldName(segment: PropertyKey | { readonly key: PropertyKey } | undefined): string | undefined {
  const key = typeof segment === "object" ? segment.key : segment;
  return key === undefined ? undefined : String(key);
}
