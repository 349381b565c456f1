import { reasonOf } from "@signalbox/agent-core";
import {
  type ChannelDefinition,
  type ChannelLogger,
  createInMemoryCache,
  createInMemoryState,
  systemClock,
} from "@signalbox/channel";
import { GatewayError, storeSecret } from "@signalbox/home";
import { assertValidSection } from "./assert-valid-section.ts";
import { addPackages } from "./packages.ts";
import type { InitOptions, Step } from "./step.ts";
import { answersAt } from "./write-answers.ts";

const CHECK_MS = 20_000;

type Settings = Record<string, string | boolean>;

/** Configures a channel. The channel's schema provides the questions and the validation. */
export async function channelStep(
  step: Step,
  options: InitOptions,
  definitions: readonly ChannelDefinition[],
): Promise<void> {
  const { asker, missingPackages } = step;
  const id = await asker.choose({
    message: "Where will people talk to it, besides the web page?",
    given: options.channel,
    initial: "none",
    options: [
      ...definitions.map(({ id: value, meta: { label } }) => ({ value, label })),
      { value: "none", label: "Nowhere yet" },
    ],
  });
  const definition = definitions.find((one) => one.id === id);
  if (definition === undefined) {
    if (options.set !== undefined || options.owner !== undefined)
      throw new GatewayError(
        "usage",
        `${options.set === undefined ? "--owner" : "--set"} needs a channel: add --channel.`,
      );
    return;
  }
  assertValidSection(step.loaded(), `channels.${definition.id}`);
  await addPackages(asker, missingPackages(definition.meta.requires ?? []));
  const account = options.account ?? "main";
  const before = step.loaded().config.channels[definition.id]?.accounts[account];
  const settings = await askSettings(step, definition, options.set ?? {});
  const checked = await definition.config["~standard"].validate({ ...before, ...settings });
  if (checked.issues !== undefined)
    throw new GatewayError("usage", checked.issues.map(({ message }) => message).join("\n"));
  if (options.check !== false) await tryOut(step, definition, account, checked.value);
  step.change(
    answersAt(
      ["channels", definition.id, "accounts", account],
      withReferences(step, definition, account, settings),
      before !== undefined,
    ),
  );
  if (usesWebhook(definition, checked.value))
    asker.say(
      `Point ${definition.meta.label}'s webhooks at /channels/${definition.id}/${account}/events of this gateway, under an address the platform can reach.`,
    );
  await ownerStep(step, definition, options);
}

/**
 * Returns true if the account receives webhooks. If the channel has several transports, the account's settings contain
 * the choice.
 */
function usesWebhook({ capabilities: { transports } }: ChannelDefinition, config: unknown): boolean {
  if (!transports.includes("webhook")) return false;
  const chosen =
    typeof config === "object" && config !== null && "transport" in config ? config.transport : "webhook";
  return chosen === "webhook";
}

async function askSettings(
  { asker }: Step,
  { meta }: ChannelDefinition,
  given: Readonly<Record<string, string>>,
): Promise<Settings> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(meta.fields, name));
  if (unknown !== undefined)
    throw new GatewayError(
      "usage",
      `${meta.label} has no setting ${unknown}. Its settings are ${Object.keys(meta.fields).join(", ")}.`,
    );
  const settings: Settings = {};
  for (const [name, { label, hint, secret }] of Object.entries(meta.fields)) {
    const question = { message: label, hint, given: given[name] };
    const answer = await (secret === true ? asker.secret(question) : asker.text(question));
    if (answer !== undefined) settings[name] = secret === true ? answer : readAnswer(answer);
  }
  return settings;
}

/** Converts `true` and `false`. Numbers stay strings, because they may be ids. */
function readAnswer(answer: string): string | boolean {
  return answer === "true" || answer === "false" ? answer === "true" : answer;
}

/** Moves secrets into separate files. */
function withReferences(
  { home }: Step,
  { id, meta }: ChannelDefinition,
  account: string,
  settings: Settings,
): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      meta.fields[name]?.secret === true && typeof value === "string"
        ? storeSecret(home, `${id}-${account}-${name}`, value)
        : value,
    ]),
  );
}

/**
 * Tests the credentials with the platform. Messages that arrive during the test are rejected, and the platform delivers
 * them again.
 */
async function tryOut(
  { asker, failed }: Step,
  definition: ChannelDefinition,
  account: string,
  config: unknown,
): Promise<void> {
  const quiet = () => {};
  const logger: ChannelLogger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(CHECK_MS)]);
  try {
    const channel = await definition.create({
      config,
      account,
      logger,
      signal,
      fetch: globalThis.fetch,
      clock: systemClock,
      cache: createInMemoryCache({ clock: systemClock }),
      state: createInMemoryState(),
      emit: async () => "rejected",
    });
    await channel.start(signal);
    const name = channel.self()?.name;
    await channel.stop({ drainMs: 0 });
    asker.say(
      name === undefined
        ? "The settings work."
        : `The settings work: on the platform, the bot is called ${name}.`,
    );
  } catch (error) {
    failed(
      `The channel does not start: ${reasonOf(error).replace(/\.?$/, ".")} The settings were saved anyway; fix them with \`signalbox config set\`.`,
    );
  } finally {
    ending.abort();
  }
}

/** Asks for the owner's id on the platform. */
async function ownerStep(
  { asker, change, loaded }: Step,
  { id, meta }: ChannelDefinition,
  options: InitOptions,
): Promise<void> {
  const owner = await asker.text({
    message: `Your user id on ${meta.label}, which makes you an owner there`,
    hint: "or leave this empty, write to the bot, and approve the code with `signalbox pairing approve`",
    given: options.owner,
  });
  if (owner === undefined) return;
  assertValidSection(loaded(), "access.owners");
  const { owners } = loaded().config.access;
  const person = owner.startsWith(`${id}:`) ? owner : `${id}:${owner}`;
  if (!owners.includes(person)) change([{ path: ["access", "owners", owners.length], value: person }]);
}
