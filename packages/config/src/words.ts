import type { z } from "zod";
import { suggest } from "./suggest.ts";

/** What is wrong with a value, for a person: the rest of a sentence that begins with its key, and what to do. */
export interface Words {
  readonly message: string;
  readonly remedy: string;
}

/** How a kind of value is called, and how it is written. */
interface Kind {
  readonly name: string;
  readonly remedy: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  number: { name: "a number", remedy: "Write it without quotes, such as 7." },
  int: { name: "a whole number", remedy: "Write it without quotes and without a fraction, such as 7." },
  boolean: { name: "true or false", remedy: "Write true or false, without quotes." },
  string: { name: "text", remedy: 'Write it in quotes, such as "main".' },
  array: {
    name: "a list",
    remedy: "Write each entry on its own line starting with `- `, or write [a, b].",
  },
  object: { name: "a mapping", remedy: "Write its keys below it, each on its own line and indented." },
  record: { name: "a mapping", remedy: "Write its keys below it, each on its own line and indented." },
};

/** What the schema complains about, in plain words. Values are not repeated: one may be a secret. */
export function wordsFor(issue: z.core.$ZodIssue): Words {
  switch (issue.code) {
    case "invalid_type":
      return wrongKind(issue.expected, issue.input);
    case "invalid_value":
      return wrongChoice(issue.values.map(String), issue.input);
    case "too_small":
    case "too_big":
      return wrongSize(issue);
    case "invalid_format":
      return wrongForm(issue);
    case "invalid_union":
      return wrongUnion(issue);
    case "invalid_key":
      return wrongName(issue);
    default:
      return { message: issue.message, remedy: "Correct the value." };
  }
}

function wrongKind(expected: string, input: unknown): Words {
  const { name, remedy } = KINDS[expected] ?? { name: expected, remedy: "Correct the value." };
  if (input === undefined) return { message: `is missing: ${name} is required`, remedy: "Add it." };
  if (input === null)
    return { message: `is empty: ${name} is required`, remedy: "Set a value, or remove the key." };
  return { message: `must be ${name}, but is ${kindOf(input)}`, remedy };
}

function kindOf(input: unknown): string {
  if (Array.isArray(input)) return "a list";
  if (typeof input === "number") return Number.isInteger(input) ? "a number" : "a fraction";
  if (typeof input === "boolean") return "true or false";
  return typeof input === "string" ? "text" : "a mapping";
}

function wrongChoice(choices: readonly string[], input: unknown): Words {
  const all = choices.length === 1 ? `Write ${choices[0]}.` : `Use one of ${choices.join(", ")}.`;
  if (input === undefined) return { message: "is missing", remedy: all };
  if (typeof input === "boolean" && choices.includes("off"))
    return { message: "is true or false, which is not an allowed value", remedy: all };
  const meant = typeof input === "string" ? suggest(input, choices) : undefined;
  return {
    message: "is not an allowed value",
    remedy: meant === undefined ? all : `Did you mean ${meant}? ${all}`,
  };
}

function wrongSize(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): Words {
  const isSmall = issue.code === "too_small";
  const limit = isSmall ? issue.minimum : issue.maximum;
  const isOpen = issue.inclusive === false;
  const bound = isSmall ? (isOpen ? "more than" : "at least") : isOpen ? "less than" : "at most";
  if (issue.origin === "string")
    return isSmall && limit === 1
      ? { message: "is empty", remedy: "Set a value, or remove the key." }
      : {
          message: `must have ${bound} ${limit} characters`,
          remedy: isSmall ? "Make it longer." : "Make it shorter.",
        };
  if (issue.origin === "array")
    return {
      message: `must have ${bound} ${limit} ${limit === 1 ? "entry" : "entries"}`,
      remedy: "Change the list.",
    };
  return { message: `must be ${bound} ${limit}`, remedy: `Write a number that is ${bound} ${limit}.` };
}

function wrongForm(issue: z.core.$ZodIssueInvalidStringFormat): Words {
  if (issue.format === "url")
    return {
      message: "is not a web address",
      remedy: "Write it in full, such as https://api.example.com/v1.",
    };
  // The schema says what it must be like.
  return { message: issue.message, remedy: "Correct the value." };
}

function wrongName({ issues: [first] }: z.core.$ZodIssueInvalidKey): Words {
  const why = first === undefined ? "is not valid" : wordsFor(first).message;
  return { message: `is not a valid name: it ${why}`, remedy: "Choose another name." };
}

/** Of several forms that a value may have, the one it comes nearest to. */
function wrongUnion(issue: z.core.$ZodIssueInvalidUnion): Words {
  if ("options" in issue && issue.options !== undefined)
    return wrongChoice(issue.options.map(String), memberOf(issue.input, issue.discriminator));
  const kinds = issue.errors.flatMap(([first]) =>
    first?.code === "invalid_type" && first.path.length === 0
      ? [KINDS[first.expected]?.name ?? first.expected]
      : [],
  );
  const inside = issue.errors.find(([first]) => first !== undefined && first.path.length > 0)?.[0];
  if (inside !== undefined) {
    const { message, remedy } = wordsFor(inside);
    return { message: `${inside.path.join(".")} ${message}`, remedy };
  }
  if (kinds.length > 0 && kinds.length === issue.errors.length)
    return { message: `must be ${[...new Set(kinds)].join(" or ")}`, remedy: "Correct the value." };
  const first = issue.errors[0]?.[0];
  return first === undefined ? { message: issue.message, remedy: "Correct the value." } : wordsFor(first);
}

function memberOf(value: unknown, name = ""): unknown {
  return Object.getOwnPropertyDescriptor(Object(value), name)?.value;
}
