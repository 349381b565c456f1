import { GatewayError } from "@signalbox/home";

/** A question. It is skipped if a command-line option contains the answer. */
interface Question {
  readonly message: string;
  readonly given?: string | undefined;
  readonly hint?: string | undefined;
  /** Default answer, which is suggested at a terminal. */
  readonly initial?: string | undefined;
  /** Returns the problem with an answer, if any. */
  readonly refuse?: (answer: string) => string | undefined;
}

interface Choice extends Question {
  readonly options: readonly { readonly value: string; readonly label: string; readonly hint?: string }[];
}

/** Asks questions at a terminal. Without a terminal, answers are undefined and the step is skipped. */
export interface Asker {
  /** True if a person answers and can correct mistakes. */
  readonly asksPerson: boolean;
  text(question: Question): Promise<string | undefined>;
  /** Asks for a secret, which is not echoed. */
  secret(question: Question): Promise<string | undefined>;
  choose(choice: Choice): Promise<string | undefined>;
  confirm(message: string): Promise<boolean>;
  say(message: string): void;
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
    say: (message) => void process.stderr.write(`${message}\n`),
    saved() {},
  };
}

/** Asks at the terminal. Ctrl-C ends the command; earlier answers stay saved. */
export async function askTerminal(): Promise<Asker> {
  const prompts = await import("@clack/prompts");
  let isSaved = false;
  const answered = (answer: string | boolean | symbol): string => {
    if (!prompts.isCancel(answer)) return String(answer);
    const kept = isSaved ? "Your answers so far are saved" : "Nothing was changed";
    throw new GatewayError("failure", `Stopped. ${kept}; run it again to continue.`);
  };
  const placeholder = (hint: string | undefined) => (hint === undefined ? {} : { placeholder: hint });

  return {
    asksPerson: true,
    async text({ message, given, hint, initial, refuse }) {
      if (given !== undefined) return checked(given, refuse);
      const validate = (text: string | undefined) => (text ? refuse?.(text) : undefined);
      const start = initial === undefined ? {} : { initialValue: initial };
      const text = answered(
        (await prompts.text({ message, ...placeholder(hint), ...start, validate })) ?? "",
      );
      return text === "" || text === "undefined" ? undefined : text;
    },
    async secret({ message, given, hint, refuse }) {
      if (given !== undefined) return checked(given, refuse);
      const validate = (text: string | undefined) => (text ? refuse?.(text) : undefined);
      const asked = hint === undefined ? message : `${message} (${hint})`;
      const text = answered((await prompts.password({ message: asked, validate })) ?? "");
      return text === "" || text === "undefined" ? undefined : text;
    },
    async choose(choice) {
      if (choice.given !== undefined) return checked(choice.given, (value) => outside(choice, value));
      const { message, initial } = choice;
      const start = initial === undefined ? {} : { initialValue: initial };
      return answered(await prompts.select({ message, options: [...choice.options], ...start }));
    },
    confirm: async (message) => answered(await prompts.confirm({ message })) === "true",
    say: (message) => prompts.log.message(message),
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
function checked(answer: string | undefined, refuse: Question["refuse"]): string | undefined {
  const wrong = answer === undefined ? undefined : refuse?.(answer);
  if (wrong !== undefined) throw new GatewayError("usage", `${wrong}.`);
  return answer;
}
