import type { ChannelDefinition } from "@signalbox/channel";
import {
  type AccountFailure,
  type AccountTrial,
  describeSettings,
  tryAccount,
} from "../../configure/try-account.ts";
import { type Answers, readAnswer } from "./channel-questions.ts";
import type { Step } from "./step.ts";

interface TestedAccount {
  readonly definition: ChannelDefinition;
  readonly account: string;
  /** Settings that are configured already. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  /** Values from the command line, some of which are not asked for yet. */
  readonly given: Readonly<Record<string, string>>;
}

/** Tests the answers about an account with its platform. */
export interface AccountTester {
  /** Tests validated settings. Settings that were accepted are not tested again. */
  test(config: unknown): Promise<AccountTrial>;
  /**
   * Tests the answers so far after a secret was entered, if they are sufficient. Prints a refusal.
   *
   * @returns the names of answered settings that the person wants to enter again
   */
  testAnswer(name: string, answers: Answers): Promise<readonly string[]>;
}

/** Creates the tester of an account for a person at a terminal. */
export function createAccountTester(
  { asker }: Step,
  { definition, account, settings, given }: TestedAccount,
): AccountTester {
  const { fields, label } = definition.meta;
  const accepted = new Map<string, AccountTrial>();
  let isSkipped = false;

  async function test(config: unknown): Promise<AccountTrial> {
    const key = JSON.stringify(config);
    const known = accepted.get(key);
    if (known !== undefined) return known;
    const trial = await asker.wait(`Testing the account with ${label}`, () =>
      tryAccount({ definition, account, config }),
    );
    if (trial.ok) accepted.set(key, trial);
    return trial;
  }

  /** Choices that were not asked yet count with their first option. */
  async function validate(answers: Answers): Promise<unknown> {
    const choices = Object.entries(fields).flatMap(([name, { options }]) =>
      options?.[0] === undefined ? [] : [[name, readAnswer(options[0].value)]],
    );
    const checked = await definition.config["~standard"].validate({
      ...Object.fromEntries(choices),
      ...settings,
      ...Object.fromEntries(
        Object.entries(given).map(([name, value]) => [
          name,
          fields[name]?.secret === true ? value : readAnswer(value),
        ]),
      ),
      ...Object.fromEntries(Object.entries(answers).filter(([, value]) => value !== undefined)),
    });
    return checked.issues === undefined ? checked.value : undefined;
  }

  return {
    test,
    async testAnswer(name, answers) {
      if (isSkipped || fields[name]?.secret !== true) return [];
      const config = await validate(answers);
      if (config === undefined) return [];
      for (;;) {
        const trial = await test(config);
        if (trial.ok) return [];
        const suspects = trial.settings.filter((setting) => Object.hasOwn(answers, setting));
        if (trial.kind === "refused" && suspects.length === 0) return [];
        const next = await asker.choose({
          message: describeFailure(definition, trial),
          initial: "again",
          options: [
            trial.kind === "refused"
              ? { value: "again", label: `Enter ${listLabels(definition, suspects)} again` }
              : { value: "again", label: "Try again" },
            { value: "continue", label: "Continue anyway" },
          ],
        });
        if (next === "continue") {
          isSkipped = true;
          return [];
        }
        if (trial.kind === "refused") return suspects;
      }
    },
  };
}

/** Describes the failure of a test: the setting that can be wrong and its place on the platform, or the cause. */
export function describeFailure(
  definition: ChannelDefinition,
  { kind, detail, settings }: AccountFailure,
): string {
  const { label, setup = [] } = definition.meta;
  const reason = detail.replace(/\.?$/, ".");
  if (kind === "unreachable") return `${label} cannot be reached, so the settings were not tested. ${reason}`;
  const places = describeSettings(definition, settings);
  const page = setup.find(
    ({ url, fields = [] }) => url !== undefined && fields.some((name) => settings.includes(name)),
  );
  return [
    settings.length === 0
      ? `${label} does not accept the account: ${reason}`
      : `${label} refuses ${listLabels(definition, settings)}: ${reason}`,
    ...places,
    ...(page?.url === undefined || settings.length === 0 ? [] : [page.url]),
  ].join("\n");
}

export function listLabels({ meta: { fields } }: ChannelDefinition, settings: readonly string[]): string {
  return settings.map((name) => fields[name]?.label ?? name).join(" or ");
}
