import type { ProviderConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import { listProviderModels, MODEL_VENDORS } from "../../configure/model-vendors.ts";
import { isSetupToken } from "../../configure/subscriptions/claude.ts";
import { MAY_END } from "../../configure/subscriptions/problems.ts";
import type { TestedModel } from "./provider-model.ts";
import type { InitOptions, Step } from "./step.ts";

/** Settings of a provider that give access to its models. */
export interface ProviderAccess {
  /** Undefined if the person gave none. */
  readonly entry?: ProviderAnswers;
  /** Setup token of a Claude plan, as it was pasted. */
  readonly setupToken?: string;
  /** The name of the model, if the questions included it. */
  readonly model?: string | undefined;
}

interface ProviderAnswers {
  readonly api?: string;
  readonly subscription?: "claude";
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly models?: readonly { readonly id: string }[];
}

interface Provider {
  readonly name: string;
  readonly options: InitOptions;
  readonly before: ProviderConfig | undefined;
}

/** Tests the settings with one call. Returns `undefined` if the provider has no model to test. */
type TestAccess = (access: ProviderAccess) => Promise<TestedModel | undefined>;

/** Asks for a vendor's key until the vendor accepts it. A key in the environment is not copied to the configuration. */
export async function askVendor(
  { env, asker }: Step,
  { name, options, before }: Provider,
  test: TestAccess,
): Promise<ProviderAccess> {
  const { apiKey: given, baseUrl } = options;
  const variable = given === undefined ? KEY_VARIABLES[name]?.find((candidate) => env[candidate]) : undefined;
  const vendor = MODEL_VENDORS.find(({ id }) => id === name);
  const address = {
    ...(before === undefined ? { api: vendor?.api ?? "openai-chat" } : {}),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
  if (variable !== undefined) {
    asker.say(`Using the key in ${variable}.`);
    return { entry: baseUrl === undefined ? {} : address };
  }
  const hasKey = before?.apiKey !== undefined && asker.asksPerson;
  const hint = hasKey ? "empty keeps the current one" : vendor?.keyPage;
  for (;;) {
    const apiKey = await asker.secret({ message: "API key", given, hint, refuse: refuseSetupToken });
    if (apiKey === undefined) return hasKey ? { entry: address } : {};
    const entry = { ...address, apiKey };
    if (!asker.asksPerson || options.check === false) return { entry };
    if (await isAccepted(asker, () => test({ entry }), given === undefined && "Enter another key"))
      return { entry };
  }
}

function refuseSetupToken(text: string): string | undefined {
  return isSetupToken(text)
    ? "This is the setup token of a Claude plan, not an API key: choose the provider claude"
    : undefined;
}

/** Asks for the setup token of a Claude plan until Anthropic accepts it. */
export async function askClaude(
  { asker }: Step,
  { name, options, before }: Provider,
  test: TestAccess,
): Promise<ProviderAccess> {
  if (before !== undefined && before.subscription !== "claude")
    throw new GatewayError("usage", `models.providers.${name} is another provider. Rename it first.`);
  asker.say(`${MAY_END}: check Anthropic's terms, and give each agent a fallback with an API key.`);
  const { apiKey: given, baseUrl } = options;
  const address = baseUrl === undefined ? {} : { baseUrl };
  const entry = { api: "anthropic-messages", subscription: "claude", ...address } as const;
  const hint = before === undefined ? "run `claude setup-token`" : "empty keeps the current one";
  const refuse = (text: string) =>
    isSetupToken(text.replace(/\s+/g, ""))
      ? undefined
      : "This is no setup token. It starts with sk-ant-oat01-, and `claude setup-token` prints it";
  for (;;) {
    const setupToken = await asker.secret({ message: "Setup token", given, hint, refuse });
    if (setupToken === undefined) return before === undefined ? {} : { entry };
    const access = { entry, setupToken };
    if (!asker.asksPerson || options.check === false) return access;
    if (await isAccepted(asker, () => test(access), given === undefined && "Enter another token"))
      return access;
  }
}

/**
 * Tests an answer, repeatedly if the person wants it.
 *
 * @param again label of the choice to enter another answer; false if the command line contains the answer
 * @returns false if the person wants to enter another answer
 */
async function isAccepted(
  asker: Step["asker"],
  test: () => Promise<TestedModel | undefined>,
  again: string | false,
): Promise<boolean> {
  for (;;) {
    const tested = await test();
    if (tested?.isOk !== false) return true;
    if (again === false && !tested.isUnreachable) return true;
    const next = await asker.choose({
      message: "What next?",
      initial: tested.isUnreachable ? "retry" : "again",
      options: [
        ...(tested.isUnreachable ? [{ value: "retry", label: "Try again" }] : []),
        ...(again === false ? [] : [{ value: "again", label: again }]),
        { value: "continue", label: "Continue anyway" },
      ],
    });
    if (next !== "retry") return next === "continue";
  }
}

/** Asks for a local server and its model, unless an option names the model. */
export async function askLocal({ asker }: Step, { options, before }: Provider): Promise<ProviderAccess> {
  const baseUrl = await askAddress(asker, options, before);
  const address = baseUrl ?? before?.baseUrl;
  if (address === undefined) return {};
  const listed = asker.asksPerson && options.model === undefined ? await listModels(asker, address) : [];
  const model = await askModelName(asker, options, listed);
  const known = before?.models ?? [];
  const isNew = model !== undefined && !known.some(({ id }) => id === model);
  const entry = {
    ...(before === undefined ? { api: "openai-chat" } : {}),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(isNew ? { models: [...known, { id: model }] } : {}),
  };
  return { entry, model };
}

function askAddress(
  asker: Step["asker"],
  options: InitOptions,
  before: ProviderConfig | undefined,
): Promise<string | undefined> {
  return asker.text({
    message: "Address of the server",
    given: options.baseUrl,
    hint: before?.baseUrl ?? "http://127.0.0.1:11434/v1",
    refuse: async (text) => {
      if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
        return `"${text}" is not a web address: write it in full, such as http://127.0.0.1:11434/v1`;
      const isTyped = asker.asksPerson && options.baseUrl === undefined;
      return isTyped && options.check !== false ? findSilence(text) : undefined;
    },
  });
}

/** Returns a message if no server responds at an address. */
async function findSilence(address: string): Promise<string | undefined> {
  try {
    await listProviderModels("openai-chat", address, undefined);
    return undefined;
  } catch {
    return `No server responds at ${address}. Start it, or correct the address.`;
  }
}

async function askModelName(
  asker: Step["asker"],
  options: InitOptions,
  listed: readonly string[],
): Promise<string | undefined> {
  const given = options.model?.replace(/^local\//, "");
  const chosen =
    listed.length === 0
      ? ""
      : await asker.choose({
          message: "Which model?",
          given,
          options: [...listed.map((id) => ({ value: id, label: id })), { value: "", label: "Another one" }],
        });
  return chosen === "" ? asker.text({ message: "Name of the model", given }) : chosen;
}

/** Returns the models that the server offers. Servers without a list return none. */
async function listModels(asker: Step["asker"], address: string): Promise<readonly string[]> {
  try {
    return await asker.wait("Reading the server's models", () =>
      listProviderModels("openai-chat", address, undefined),
    );
  } catch {
    return [];
  }
}
