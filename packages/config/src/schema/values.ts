import { z } from "zod";

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const id = z
  .string()
  .regex(ID, "must be 1 to 64 letters, digits, '.', '_' or '-', and start with a letter or digit");

/** Returns whether a text is a valid id of an agent, an account or a token. */
export function isId(text: string): boolean {
  return id.safeParse(text).success;
}

export const names = z.array(z.string().min(1));

/** A number of days, at most a hundred years. */
export const days = z.number().positive().max(36_500);

export const webAddress = z.url({ protocol: /^https?$/ });

/** `example.org`, `*.example.org` for its subdomains, `example.org:8443` for a port other than 80 and 443. */
export const domains = z.array(
  z
    .string()
    .regex(
      /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/,
      "must be a lowercase host, such as example.org, *.example.org or example.org:8443",
    ),
);

/** A rule for some runs: which of the agent's tools they may use. */
export const toolRule = z.strictObject({ allow: names.optional(), deny: names.optional() });

/** When a tool call needs an owner's approval. `unlisted`: if no allow rule covers it. */
export const askMode = z.enum(["always", "unlisted", "tainted", "never"]);

/** A time zone name. An unknown time zone would cause an error with each message. */
export const timeZone = z
  .string()
  .refine(isTimeZone, "is not a known time zone; use a name such as Asia/Shanghai");

/**
 * Returns whether a name means one time zone of the IANA database. Abbreviations such as CST or IST, which `Intl`
 * accepts, are not valid, since people in several zones use them for their own.
 */
export function isTimeZone(name: string): boolean {
  if (/^[a-z]{3}$/i.test(name) && !/^(?:utc|gmt|uct|prc|roc|rok)$/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
