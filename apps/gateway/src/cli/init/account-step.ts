import type { ChannelDefinition } from "@signalbox/channel";
import { GatewayError, storeSecret } from "@signalbox/home";
import { formatCommand } from "../format-command.ts";
import { type AccountTester, createAccountTester, describeFailure, listLabels } from "./account-trial.ts";
import { askInOrder } from "./ask-in-order.ts";
import { assertValidSection } from "./assert-valid-section.ts";
import { type Answers, getChannelQuestions } from "./channel-questions.ts";
import { getOwnerEdits } from "./owner-edits.ts";
import { addPackages } from "./packages.ts";
import type { InitOptions, Step } from "./step.ts";
import { answersAt } from "./write-answers.ts";

/** An account whose questions are answered. */
interface AnsweredAccount {
  readonly definition: ChannelDefinition;
  readonly account: string;
  readonly answers: Answers;
  /** Settings that are configured already. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  /** Undefined if the account is not tested. */
  readonly tester: AccountTester | undefined;
}

/** Configures an account. The channel provides the questions, validates the answers and tests the account. */
export async function accountStep(
  step: Step,
  options: InitOptions,
  definition: ChannelDefinition,
): Promise<void> {
  const { asker, missingPackages, progress } = step;
  const { id, meta } = definition;
  const { set: given = {}, account = "main" } = options;
  assertValidSection(step.loaded(), `channels.${id}`);
  assertKnown(definition, given);
  await addPackages(asker, missingPackages(meta.requires ?? []));
  const settings = step.loaded().config.channels[id]?.accounts[account];
  let answers = asker.asksPerson ? progress.of(id, account) : {};
  const resumed = Object.keys(answers).map((name) => meta.fields[name]?.label ?? name);
  if (resumed.length > 0) asker.say(`Continuing with ${meta.label}. Answered before: ${resumed.join(", ")}.`);
  const tester =
    options.check === false ? undefined : createAccountTester(step, { definition, account, settings, given });
  let only: readonly string[] | undefined;
  for (let round = 1; ; round += 1) {
    const earlier = round === 1 ? {} : answers;
    const current = round === 1 ? answers : {};
    const questions = getChannelQuestions({
      ...{ asker, definition, answers: current, given },
      before: { ...settings, ...defined(earlier) },
      only,
      test: async (name, entered) =>
        (await tester?.testAnswer(name, { ...earlier, ...defined(entered) })) ?? [],
      webhookPath: `/channels/${id}/${account}/events`,
      onAnswer() {
        if (!asker.asksPerson) return;
        progress.keep(id, account, { ...earlier, ...defined(current) });
        asker.saved();
      },
    });
    await askInOrder(questions);
    answers = { ...earlier, ...defined(current) };
    const answered = { definition, account, answers, settings, tester };
    const next = await testAnswers(step, answered);
    if (typeof next === "object") {
      only = next.again.some((name) => given[name] === undefined) ? next.again : undefined;
      continue;
    }
    if (next === "save") save(step, answered);
    progress.clearAccount();
    if (next === "save") await ownerStep(step, definition, options);
    return;
  }
}

function assertKnown({ meta }: ChannelDefinition, given: Readonly<Record<string, string>>): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(meta.fields, name));
  if (unknown !== undefined)
    throw new GatewayError(
      "usage",
      `${meta.label} has no setting ${unknown}. Its settings are ${Object.keys(meta.fields).join(", ")}.`,
    );
}

/** `again` contains the fields to ask for again; empty for all. */
type Next = "save" | "skip" | { readonly again: readonly string[] };

/** Validates the answers and tests them with the platform. A person can correct them. */
async function testAnswers(step: Step, answered: AnsweredAccount): Promise<Next> {
  const { asker } = step;
  const { definition, account, settings, answers, tester } = answered;
  const { label } = definition.meta;
  const checked = await definition.config["~standard"].validate({ ...settings, ...answers });
  if (checked.issues !== undefined) {
    const issues = checked.issues.map(({ message }) => message).join("\n");
    if (!asker.asksPerson) throw new GatewayError("usage", issues);
    asker.say(issues);
    return { again: [] };
  }
  if (!asker.asksPerson && usesWebhook(definition, checked.value))
    asker.say(
      `Point ${label}'s webhooks at /channels/${definition.id}/${account}/events of this gateway, under an address the platform can reach.`,
    );
  return tester === undefined ? "save" : decide(step, answered, tester, checked.value);
}

/** Tests valid answers. After a failure, a person decides what happens next. */
async function decide(
  { asker, failed, home }: Step,
  { definition }: AnsweredAccount,
  tester: AccountTester,
  config: unknown,
): Promise<Next> {
  const { label } = definition.meta;
  for (;;) {
    const trial = await tester.test(config);
    if (trial.ok) {
      asker.say(
        trial.name === undefined
          ? "The settings work."
          : `The settings work: on the platform, the bot is called ${trial.name}.`,
      );
      return "save";
    }
    const { kind, settings: suspects } = trial;
    const message = describeFailure(definition, trial);
    const correct =
      suspects.length === 0 ? "Correct the answers" : `Correct ${listLabels(definition, suspects)}`;
    const next = await asker.choose({
      message,
      initial: !asker.asksPerson ? "save" : kind === "unreachable" ? "retry" : "again",
      options: [
        ...(kind === "unreachable" ? [{ value: "retry", label: "Try again" }] : []),
        { value: "again", label: correct },
        { value: "save", label: "Save them anyway" },
        { value: "skip", label: `Leave ${label} out` },
      ],
    });
    if (next === "retry") continue;
    if (next === "again") return { again: suspects };
    if (next === "save")
      failed(
        kind === "unreachable"
          ? `${message} They were saved anyway; test them with ${formatCommand(home, "doctor")}.`
          : `The channel does not start. ${message}\nThe settings were saved anyway; fix them with ${formatCommand(home, "init")}.`,
      );
    return next === "save" ? "save" : "skip";
  }
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

/** Writes the account to the configuration, and its secrets to separate files. */
function save(
  { home, change }: Step,
  { definition: { id, meta }, account, answers, settings }: AnsweredAccount,
): void {
  const references = Object.entries(answers).map(([name, value]) => [
    name,
    meta.fields[name]?.secret === true && typeof value === "string"
      ? storeSecret(home, `${id}-${account}-${name}`, value)
      : value,
  ]);
  const path = ["channels", id, "accounts", account];
  change(
    `the account ${id}/${account}`,
    answersAt(path, Object.fromEntries(references), settings !== undefined),
  );
}

/** Asks for the owner's id on the platform. */
async function ownerStep(
  { asker, home, change, loaded }: Step,
  { id, meta }: ChannelDefinition,
  options: InitOptions,
): Promise<void> {
  const owner = await asker.text({
    message: `Your user id on ${meta.label}, which makes you an owner there`,
    hint: "empty if you do not know it",
    given: options.owner,
  });
  if (owner === undefined) {
    asker.say(
      `Once the gateway runs, write to the bot. It replies with a code: ${formatCommand(home, "pairing approve <code> --owner")} makes you an owner.`,
    );
    return;
  }
  const edits = getOwnerEdits(loaded(), owner.startsWith(`${id}:`) ? owner : `${id}:${owner}`);
  if (edits.length > 0) change("the owner", edits);
}

function defined(answers: Answers): Answers {
  return Object.fromEntries(Object.entries(answers).filter(([, value]) => value !== undefined));
}
