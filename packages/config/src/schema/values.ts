import { z } from "zod";

/** What several sections are made of. */

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const id = z
  .string()
  .regex(ID, "must be 1 to 64 letters, digits, '.', '_' or '-', and start with a letter or digit");

/** Whether an agent, an account or a token may be called so. */
export function isId(text: string): boolean {
  return id.safeParse(text).success;
}

export const names = z.array(z.string().min(1));

export const webAddress = z.url({ protocol: /^https?$/ });

/** `example.org`, `*.example.org` for all below it, `example.org:8443` for a port besides those of the web. */
export const domains = z.array(
  z
    .string()
    .regex(
      /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/,
      "must be a lowercase host, such as example.org, *.example.org or example.org:8443",
    ),
);

/** When an owner is asked about a call of a tool; `unlisted`: where no allow rule covers it. */
export const askMode = z.enum(["always", "unlisted", "tainted", "never"]);

/** A name that `Intl` knows; a wrong one would fail at each message. */
export const timeZone = z
  .string()
  .refine(isTimeZone, "is not a known time zone; use a name such as Asia/Shanghai");

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
