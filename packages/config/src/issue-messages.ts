import type { z } from "zod";
import { mayContainPassword } from "./secret-places.ts";
import { didYouMean } from "./suggest.ts";

/** Description of a mistake and its remedy. The message continues a sentence that begins with the key. */
export interface IssueMessage {
  readonly message: string;
  readonly remedy: string;
}

interface ValueKind {
  readonly name: string;
  readonly remedy: string;
}

const KINDS: Readonly<Record<string, ValueKind>> = {
  number: { name: "a number", remedy: "Write a number, such as 7." },
  int: { name: "a whole number", remedy: "Write a number without a fraction, such as 7." },
  boolean: { name: "true or false", remedy: "Write true or false, without quotes." },
  string: { name: "text", remedy: 'Write it in quotes, such as "main".' },
  array: {
    name: "a list",
    remedy: "Write each entry on its own line starting with `- `, or write [a, b].",
  },
  object: { name: "a mapping", remedy: "Write its keys below it, each on its own line and indented." },
  record: { name: "a mapping", remedy: "Write its keys below it, each on its own line and indented." },
};

/**
 * Describes an issue of zod in plain words. The message does not repeat a value that may contain a password.
 *
 * @param isSecret whether the value may be a secret, which the message must not repeat
 */
export function describeIssue(issue: z.core.$ZodIssue, isSecret: boolean): IssueMessage {
  switch (issue.code) {
    case "invalid_type":
      return describeType(issue.expected, issue.input, isSecret);
    case "invalid_value":
      return describeChoice(issue.values.map(String), issue.input, isSecret);
    case "too_small":
    case "too_big":
      return describeSize(issue);
    case "invalid_format":
      return describeFormat(issue, isSecret);
    case "invalid_union":
      return describeUnion(issue, isSecret);
    case "invalid_key":
      return describeName(issue);
    default:
      return { message: issue.message, remedy: "Correct the value." };
  }
}

function describeType(expected: string, input: unknown, isSecret: boolean): IssueMessage {
  const { name, remedy } = KINDS[expected] ?? { name: expected, remedy: "Correct the value." };
  if (input === undefined) return { message: `is missing: ${name} is required`, remedy: "Add it." };
  if (input === null)
    return { message: `is empty: ${name} is required`, remedy: "Set a value, or remove the key." };
  const isQuotedNumber =
    name.endsWith("number") &&
    typeof input === "string" &&
    input.trim() !== "" &&
    !Number.isNaN(Number(input));
  return {
    message: `must be ${name}, but is ${describeValue(input, isSecret)}`,
    remedy: isQuotedNumber ? "Write it without quotes." : remedy,
  };
}

const MAX_SHOWN_CHARS = 60;

function describeValue(input: unknown, isSecret: boolean): string {
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object") return "a mapping";
  if (isHidden(input, isSecret)) return typeof input === "string" ? "text" : `a ${typeof input}`;
  if (typeof input !== "string") return String(input);
  return input.length > MAX_SHOWN_CHARS ? "a long text" : `the text ${JSON.stringify(input)}`;
}

function isHidden(input: unknown, isSecret: boolean): boolean {
  return isSecret || (typeof input === "string" && mayContainPassword(input));
}

function describeChoice(choices: readonly string[], input: unknown, isSecret: boolean): IssueMessage {
  const all = choices.length === 1 ? `Write ${choices[0]}.` : `Use one of ${choices.join(", ")}.`;
  if (input === undefined) return { message: "is missing", remedy: all };
  // YAML reads an unquoted `off` as text, but `on`, `yes` and their like may come from other tools as booleans.
  const value = describeValue(input, isSecret).replace(/^the text /, "");
  return {
    message: isHidden(input, isSecret) ? "is not an allowed value" : `${value} is not an allowed value`,
    remedy: `${typeof input === "string" ? didYouMean(input, choices) : ""}${all}`,
  };
}

function describeSize(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): IssueMessage {
  const isTooSmall = issue.code === "too_small";
  const limit = isTooSmall ? issue.minimum : issue.maximum;
  const isExclusive = issue.inclusive === false;
  const bound = isTooSmall ? (isExclusive ? "more than" : "at least") : isExclusive ? "less than" : "at most";
  if (issue.origin === "string")
    return isTooSmall && limit === 1
      ? { message: "is empty", remedy: "Set a value, or remove the key." }
      : {
          message: `must have ${bound} ${limit} characters`,
          remedy: isTooSmall ? "Make it longer." : "Make it shorter.",
        };
  if (issue.origin === "array")
    return {
      message: `must have ${bound} ${limit} ${limit === 1 ? "entry" : "entries"}`,
      remedy: isTooSmall ? "Add entries." : "Remove entries.",
    };
  return { message: `must be ${bound} ${limit}`, remedy: `Write a number that is ${bound} ${limit}.` };
}

function describeFormat(issue: z.core.$ZodIssueInvalidStringFormat, isSecret: boolean): IssueMessage {
  const { input } = issue;
  const shown =
    typeof input !== "string" || isHidden(input, isSecret) || input.length > MAX_SHOWN_CHARS
      ? ""
      : `, but is ${JSON.stringify(input)}`;
  if (issue.format === "url")
    return {
      message: `must be a web address${shown}`,
      remedy: "Write it in full, such as https://api.example.com/v1.",
    };
  // The schema's message describes the valid format.
  return { message: `${issue.message}${shown}`, remedy: "Correct the value." };
}

function describeName({ issues: [first] }: z.core.$ZodIssueInvalidKey): IssueMessage {
  const reason = first === undefined ? "is not valid" : describeIssue(first, true).message;
  return { message: `is not a valid name: it ${reason}`, remedy: "Choose another name." };
}

/** Describes a value that matches no member of a union, by the member that it resembles most. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, isSecret: boolean): IssueMessage {
  if ("options" in issue && issue.options !== undefined)
    return describeChoice(issue.options.map(String), getProperty(issue.input, issue.discriminator), isSecret);
  const kinds = issue.errors.flatMap(([first]) =>
    first?.code === "invalid_type" && first.path.length === 0
      ? [KINDS[first.expected]?.name ?? first.expected]
      : [],
  );
  const inside = issue.errors.find(([first]) => first !== undefined && first.path.length > 0)?.[0];
  if (inside !== undefined) {
    const { message, remedy } = describeIssue(inside, isSecret);
    return { message: `${inside.path.join(".")} ${message}`, remedy };
  }
  if (kinds.length > 0 && kinds.length === issue.errors.length)
    return { message: `must be ${[...new Set(kinds)].join(" or ")}`, remedy: "Correct the value." };
  const first = issue.errors[0]?.[0];
  return first === undefined
    ? { message: issue.message, remedy: "Correct the value." }
    : describeIssue(first, isSecret);
}

function getProperty(value: unknown, name = ""): unknown {
  return Object.getOwnPropertyDescriptor(Object(value), name)?.value;
}
