import { GatewayError } from "@signalbox/home";
import { withOwnCommand } from "../own-command.ts";
import { withProgress } from "../progress.ts";

type Refusal = string | undefined | Promise<string | undefined>;

/** A question. It is skipped if a command-line option contains the answer. */
interface Question {
  readonly message: string;
  readonly given?: string | undefined;
  readonly hint?: string | undefined;
  /** Default answer, which is suggested at a terminal. */
  readonly initial?: string | undefined;
  /** Returns the problem with an answer, if any. At a terminal, the question is then asked again. */
  readonly refuse?: (answer: string) => Refusal;
  /** Returns the problem with an empty answer, if any. Only called at a terminal. Default: it may be empty. */
  readonly refuseEmpty?: () => Refusal;
}

interface Choice extends Pick<Question, "message" | "given" | "initial"> {
  readonly options: readonly { readonly value: string; readonly label: string; readonly hint?: string }[];
}

/** Thrown if the person goes back to the previous question. */
export class WentBack extends Error {
  override readonly name = "WentBack";

  constructor() {
    super("There is no earlier question.");
  }
}

/** Asks questions at a terminal. Without a terminal, answers are undefined and the step is skipped. */
export interface Asker {
  /** True if a person answers and can correct mistakes. */
  readonly asksPerson: boolean;
  /** @throws WentBack, as do the other questions */
  text(question: Question): Promise<string | undefined>;
  /** Asks for a secret, which is not echoed. */
  secret(question: Question): Promise<string | undefined>;
  choose(choice: Choice): Promise<string | undefined>;
  /** @param initial the suggested answer. Default: true */
  confirm(message: string, initial?: boolean): Promise<boolean>;
  say(message: string): void;
  /** Runs a task and shows its description and duration while it runs. */
  wait<T>(what: string, task: () => Promise<T>): Promise<T>;
  /** Call this after an answer was saved. If the person stops, the last line reports that answers are saved. */
  saved(): void;
}

/** Takes answers from command-line options and defaults, without a terminal. */
export function askNobody(): Asker {
  const answer = async ({ given, initial, refuse }: Question): Promise<string | undefined> =>
    checked(given ?? initial, refuse);
  return {
    asksPerson: false,
    text: answer,
    secret: answer,
    choose: (choice) => answer({ ...choice, refuse: (value) => outside(choice, value) }),
    confirm: async () => false,
    say: (message) => void process.stderr.write(`${withOwnCommand(message)}\n`),
    wait: (_what, task) => task(),
    saved() {},
  };
}

/** Asks at the terminal. Esc goes back, and Ctrl-C ends the command; earlier answers stay saved. */
export async function askTerminal(): Promise<Asker> {
  const prompts = await import("@clack/prompts");
  let isSaved = false;
  let lastKey: string | undefined;
  process.stdin.on("keypress", (_text: unknown, key: { readonly name?: string } | undefined) => {
    lastKey = key?.name;
  });
  const answered = (answer: string | boolean | symbol | undefined): string => {
    if (!prompts.isCancel(answer)) return String(answer ?? "");
    // The prompts end in the same way for both keys.
    if (lastKey === "escape") throw new WentBack();
    const kept = isSaved ? "Your answers so far are saved" : "Nothing was changed";
    throw new GatewayError("failure", `Stopped. ${kept}; run it again to continue.`);
  };
  const given = async (answer: string, refuse: Question["refuse"]): Promise<string | undefined> =>
    checked(answer, refuse);
  const validateWith =
    ({ refuse, refuseEmpty }: Question) =>
    (text: string | undefined): Refusal =>
      text ? refuse?.(text) : refuseEmpty?.();

  return {
    asksPerson: true,
    async text(question) {
      const { message, hint, initial } = question;
      if (question.given !== undefined) return given(question.given, question.refuse);
      const placeholder = hint === undefined ? {} : { placeholder: hint };
      const start = initial === undefined ? {} : { initialValue: initial };
      const validate = validateWith(question);
      const text = answered(await prompts.text({ message, ...placeholder, ...start, validate }));
      return text === "" ? undefined : text;
    },
    async secret(question) {
      const { message, hint } = question;
      if (question.given !== undefined) return given(question.given, question.refuse);
      const asked = hint === undefined ? message : `${message} (${hint})`;
      const text = answered(await prompts.password({ message: asked, validate: validateWith(question) }));
      return text === "" ? undefined : text;
    },
    async choose(choice) {
      if (choice.given !== undefined) return given(choice.given, (value) => outside(choice, value));
      const { message, initial } = choice;
      const start = initial === undefined ? {} : { initialValue: initial };
      return answered(await prompts.select({ message, options: [...choice.options], ...start }));
    },
    confirm: async (message, initial = true) =>
      answered(await prompts.confirm({ message, initialValue: initial })) === "true",
    say: (message) => prompts.log.message(withOwnCommand(message)),
    wait: withProgress,
    saved() {
      isSaved = true;
    },
  };
}

function outside({ options }: Choice, value: string): string | undefined {
  const values = options.map((option) => option.value);
  return values.includes(value) ? undefined : `"${value}" is not one of ${values.join(", ")}`;
}

/** @throws GatewayError if the answer is invalid */
async function checked(answer: string | undefined, refuse: Question["refuse"]): Promise<string | undefined> {
  const wrong = answer === undefined ? undefined : await refuse?.(answer);
  if (wrong !== undefined) throw new GatewayError("usage", `${wrong.replace(/\.$/, "")}.`);
  return answer;
}
