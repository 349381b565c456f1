import type { createModels } from "@signalbox/llm-providers";
import { isVendorUnreachable, TEST_MESSAGE, TEST_TOKENS } from "../../configure/model-vendors.ts";
import type { Step } from "./step.ts";

type Models = ReturnType<typeof createModels>;

/** A model that was called once. */
export type TestedModel =
  | { readonly reference: string; readonly isOk: true }
  | {
      readonly reference: string;
      readonly isOk: false;
      readonly reason: string;
      /** True if the vendor did not respond, is down or limits requests, which says nothing about the key. */
      readonly isUnreachable: boolean;
    };

/**
 * Tests a model with one call and prints the result, including the vendor's own error message.
 *
 * @param url address of the vendor, if known
 */
export async function testModel(
  { asker }: Step,
  models: Models,
  reference: string | undefined,
  url?: string,
): Promise<TestedModel | undefined> {
  if (reference === undefined) return undefined;
  const answer = await asker.wait(`Testing ${reference}`, () =>
    models.complete(reference, TEST_MESSAGE, { maxOutputTokens: TEST_TOKENS }),
  );
  if (answer.ok) {
    asker.say(`${reference} answers.`);
    return { reference, isOk: true };
  }
  const reason = answer.error.message.replace(/\.?$/, ".");
  const isUnreachable = isVendorUnreachable(answer.error);
  const vendor = url !== undefined && URL.canParse(url) ? new URL(url).host : reference;
  if (asker.asksPerson)
    asker.say(
      isUnreachable
        ? `${vendor} cannot be reached, so the key was not tested. ${reason}`
        : `${reference} does not answer: ${reason}`,
    );
  return { reference, isOk: false, reason, isUnreachable };
}

/** Asks for one of a provider's models. */
export async function askModel(
  { asker }: Step,
  {
    name,
    models,
    given,
    initial,
  }: {
    readonly name: string;
    readonly models: Models;
    readonly given: string | undefined;
    readonly initial: string | undefined;
  },
): Promise<string | undefined> {
  const listed = models.list().filter(({ provider }) => provider === name);
  if (!asker.asksPerson || given !== undefined || listed.length === 0)
    return asker.text({ message: "Which model?", given, initial });
  const choices = listed.map(({ id, name: label }) => ({
    value: `${name}/${id}`,
    label: label ?? id,
    ...(label === undefined ? {} : { hint: id }),
  }));
  const chosen = await asker.choose({
    message: "Which model?",
    initial,
    options: [...choices, { value: "", label: "Another one" }],
  });
  return chosen === "" ? asker.text({ message: `Which model? Write ${name}/<model>`, initial }) : chosen;
}

export function belongsTo(provider: string, model: string | undefined): boolean {
  return model?.startsWith(`${provider}/`) === true;
}
