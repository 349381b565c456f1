import type { ChannelDefinition, ConfigField, SetupStep } from "@signalbox/channel";
import type { Ask } from "./ask-in-order.ts";
import type { Asker } from "./asker.ts";

/** Answers by field. A field that was left empty has the value undefined. */
export type Answers = Record<string, string | boolean | undefined>;

export interface ChannelQuestionsOptions {
  readonly asker: Asker;
  readonly definition: ChannelDefinition;
  /** Collects the answers. Contains those of an interrupted setup, which are not asked again. */
  readonly answers: Answers;
  /** Values from the command line. */
  readonly given: Readonly<Record<string, string>>;
  /** Existing settings of the account. */
  readonly before: Readonly<Record<string, unknown>>;
  /** Path of the account's webhook at the gateway. */
  readonly webhookPath: string;
  /** Called after each answer. */
  readonly onAnswer: () => void;
  /** Tests an answer. Returns the names of the answered fields to ask for again. */
  readonly test: (name: string, answers: Answers) => Promise<readonly string[]>;
  /** Asks only for these fields. Default: all. */
  readonly only?: readonly string[] | undefined;
}

/**
 * Returns the questions about an account, in the order of the platform's setup. Fields that belong to no step of the
 * setup follow if the person wants to change them.
 */
export function getChannelQuestions(options: ChannelQuestionsOptions): readonly Ask[] {
  const { definition, asker, given } = options;
  const { fields, setup } = definition.meta;
  const steps: readonly SetupStep[] = setup ?? [{ fields: Object.keys(fields) }];
  const inSteps = new Set(steps.flatMap((step) => step.fields ?? []));
  const others = Object.keys(fields).filter((name) => !inSteps.has(name));
  const form = new Form(options);
  if (options.only !== undefined) return options.only.map((name) => form.ask(name, () => true));
  const guided = steps.flatMap((step) => form.askStep(step));
  let wantsOthers = false;
  const wanted: Ask = async () => {
    const isAsked = asker.asksPerson && others.some((name) => given[name] === undefined);
    wantsOthers = isAsked && (await asker.confirm("Change more settings? Most accounts need none", false));
    return isAsked;
  };
  const more = others.map((name) => form.ask(name, () => wantsOthers));
  // Another answer, such as the transport, can make more steps necessary.
  return [
    ...guided,
    ...(others.length > 0 ? [wanted, ...more] : []),
    ...steps.flatMap((step) => form.askStep(step)),
  ];
}

class Form {
  readonly #options: ChannelQuestionsOptions;
  readonly #shown = new Set<SetupStep>();
  #address: string | undefined;

  constructor(options: ChannelQuestionsOptions) {
    const { answers, before, webhookPath } = options;
    this.#options = options;
    const known = toText(answers["webhookUrl"] ?? before["webhookUrl"]);
    if (known?.endsWith(webhookPath) === true) this.#address = known.slice(0, -webhookPath.length);
  }

  /** Returns the questions of a step. Its instructions are shown before the first one. */
  askStep(step: SetupStep): readonly Ask[] {
    const questions = (step.fields ?? []).map((name) => this.ask(name, () => this.#applies(step)));
    return [async () => this.#show(step), ...questions];
  }

  /** Returns the question about a field. It is skipped if there is an answer, unless the person goes back to it. */
  ask(name: string, applies: () => boolean): Ask {
    const { asker, definition, answers, given, onAnswer } = this.#options;
    const field = definition.meta.fields[name];
    let isAsked = false;
    return async () => {
      const isAnswered = !isAsked && Object.hasOwn(answers, name);
      if (field === undefined || isAnswered || !(applies() || given[name] !== undefined)) return false;
      isAsked = true;
      answers[name] = await this.#askField(name, field);
      onAnswer();
      await this.#askAgain(name);
      return asker.asksPerson && given[name] === undefined;
    };
  }

  /** Tests an answer, and asks again for what the platform refuses. Values from the command line stay. */
  async #askAgain(name: string): Promise<void> {
    const { asker, definition, answers, given, onAnswer, test } = this.#options;
    if (!asker.asksPerson || given[name] !== undefined) return;
    for (;;) {
      const refused = (await test(name, answers)).filter((other) => given[other] === undefined);
      if (refused.length === 0) return;
      for (const other of refused) {
        const field = definition.meta.fields[other];
        if (field !== undefined) answers[other] = await this.#askField(other, field);
        onAnswer();
      }
    }
  }

  async #askField(name: string, field: ConfigField): Promise<string | boolean | undefined> {
    const { asker, given, before, answers } = this.#options;
    const { label: message, hint, options, secret } = field;
    const earlier = toText(answers[name] ?? before[name]);
    const change = (answer: string | undefined): string | boolean | undefined =>
      answer === toText(before[name]) ? undefined : secret === true ? answer : readAnswer(answer);
    if (options !== undefined && (asker.asksPerson || given[name] !== undefined))
      return change(await asker.choose({ message, given: given[name], initial: earlier, options }));
    const isKept = secret === true && earlier !== undefined && asker.asksPerson;
    const question = {
      message,
      hint: isKept ? "empty keeps the current one" : hint,
      given: given[name],
      initial: secret === true || !asker.asksPerson ? undefined : earlier,
      refuse: (text: string) => this.#findIssue(name, secret === true ? text : readAnswer(text)),
      refuseEmpty: () => (isKept || this.#isChoice(name) ? undefined : this.#findIssue(name, undefined)),
    };
    const answer = await (secret === true ? asker.secret(question) : asker.text(question));
    return change(answer ?? (isKept ? earlier : undefined));
  }

  /** Returns the channel's objection to one answer. Issues of other fields, which may be open, are ignored. */
  async #findIssue(name: string, value: string | boolean | undefined): Promise<string | undefined> {
    const { definition, answers, before } = this.#options;
    const { issues } = await definition.config["~standard"].validate(
      withoutUndefined({ ...before, ...answers, [name]: value }),
    );
    return issues?.find(({ path = [] }) => getKey(path[0]) === name)?.message;
  }

  /** Returns true if another step asks for a replacement of this field if it is empty. */
  #isChoice(name: string): boolean {
    return this.#options.definition.meta.setup?.some(({ when }) => when?.[name] === "") === true;
  }

  #applies({ when = {} }: SetupStep): boolean {
    const { answers, before, definition } = this.#options;
    return Object.entries(when).every(([name, value]) => {
      const chosen = answers[name] ?? before[name] ?? definition.meta.fields[name]?.options?.[0]?.value ?? "";
      return String(chosen) === value;
    });
  }

  async #show(step: SetupStep): Promise<boolean> {
    const { asker } = this.#options;
    const { text, url } = step;
    if (text === undefined || this.#shown.has(step) || !this.#applies(step)) return false;
    const { answers } = this.#options;
    const fields = step.fields ?? [];
    // An interrupted setup has answered the questions of this step.
    if (fields.length > 0 && fields.every((name) => Object.hasOwn(answers, name))) return false;
    if (!asker.asksPerson) return false;
    const isWebhook = text.includes("{webhook}");
    const isAsked = isWebhook && (await this.#askAddress());
    this.#shown.add(step);
    const lines = [text.replace("{webhook}", () => this.#webhookUrl), ...(url === undefined ? [] : [url])];
    asker.say(lines.join("\n"));
    return isAsked;
  }

  get #webhookUrl(): string {
    return `${this.#address ?? "https://<your address>"}${this.#options.webhookPath}`;
  }

  async #askAddress(): Promise<boolean> {
    const { asker, definition, answers, onAnswer } = this.#options;
    if (this.#address !== undefined) return false;
    const address = await asker.text({
      message: "Public address of this gateway",
      hint: "such as https://signalbox.example.org; empty if there is none yet",
      refuse: (text) =>
        /^https:\/\//i.test(text) && URL.canParse(text)
          ? undefined
          : "Write it in full, such as https://signalbox.example.org",
    });
    if (address === undefined) return true;
    this.#address = new URL(address).origin;
    if (Object.hasOwn(definition.meta.fields, "webhookUrl")) answers["webhookUrl"] ??= this.#webhookUrl;
    onAnswer();
    return true;
  }
}

function toText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(" ") : String(value);
}

function getKey(segment: PropertyKey | { readonly key: PropertyKey } | undefined): PropertyKey | undefined {
  return typeof segment === "object" ? segment.key : segment;
}

function withoutUndefined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Converts `true` and `false`. Numbers stay strings, because they may be ids. */
export function readAnswer<T extends string | undefined>(answer: T): T | boolean {
  return answer === "true" || answer === "false" ? answer === "true" : answer;
}
