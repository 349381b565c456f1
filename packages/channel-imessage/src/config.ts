import { z } from "zod";

/** Settings of one account, after validation: either a command or a BlueBubbles server. */
export type IMessageConfig =
  | { readonly command: readonly [string, ...string[]] }
  | { readonly baseUrl: string; readonly password: string };

const EXAMPLE = "command: [imsg, rpc] on the Mac, or command: [ssh, my-mac, imsg, rpc] elsewhere";

const settings = z.object({
  command: z
    .union([
      z.array(z.string().min(1)).min(1),
      z
        .string()
        .trim()
        .min(1)
        .transform((line) => line.split(/\s+/)),
    ])
    .optional(),
  baseUrl: z
    .url({ protocol: /^https?$/, error: "baseUrl must be the http or https URL of the BlueBubbles server." })
    .refine((url) => new URL(url).search === "" && new URL(url).password === "", {
      error: "baseUrl must not contain a password. Set `password` instead.",
    })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  password: z.string({ error: "password must be the server password of BlueBubbles." }).min(1).optional(),
});

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const imessageConfig: z.ZodType<IMessageConfig> = settings.transform((given, context) => {
  const { command, baseUrl, password } = given;
  const fail = (field: string, message: string): never => {
    context.issues.push({ code: "custom", input: given, path: [field], message });
    return z.NEVER;
  };
  const [program, ...parameters] = command ?? [];
  if (program !== undefined) {
    if (baseUrl === undefined) return { command: [program, ...parameters] as const };
    return fail("command", "Set either command (imsg) or baseUrl and password (BlueBubbles), not both.");
  }
  if (baseUrl === undefined)
    return fail(
      "command",
      `command is missing: ${EXAMPLE}. With BlueBubbles, set baseUrl and password instead.`,
    );
  if (password === undefined)
    return fail("password", "password is missing: copy it from the settings of the BlueBubbles server.");
  return { baseUrl, password };
});
