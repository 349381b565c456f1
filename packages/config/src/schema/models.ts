import { z } from "zod";
import { webAddress } from "./values.ts";

export const modelRef = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, "must be written provider/model, such as anthropic/claude-sonnet-4-6");

export const thinkingLevel = z.enum(["off", "minimal", "low", "medium", "high", "max"]);

/** One entry of `models.providers.<id>.models`. */
const modelSchema = z.strictObject({
  id: z.string().min(1).describe("The name that the server uses."),
  name: z.string().optional().describe("The name that people see."),
  contextWindow: z.int().positive().optional().describe("Size of its context window in tokens."),
  maxOutputTokens: z.int().positive().optional().describe("Maximum number of tokens in one answer."),
  input: z
    .array(z.enum(["text", "image", "audio", "file"]))
    .optional()
    .describe("The types of content that it accepts."),
  thinking: z.array(thinkingLevel).optional().describe("The thinking levels that it supports."),
  tools: z
    .enum(["native", "text", "none"])
    .optional()
    .describe("Its support for tool calls: through the API, in its text, or none."),
  prices: z
    .strictObject({
      input: z.number().nonnegative(),
      output: z.number().nonnegative(),
      cacheRead: z.number().nonnegative().optional(),
      cacheWrite: z.number().nonnegative().optional(),
    })
    .optional()
    .describe("US dollars per million tokens."),
  quirks: z.record(z.string(), z.json()).optional().describe("Deviations of the server from its API."),
});

/** The API of each subscription. */
const SUBSCRIPTION_APIS = {
  chatgpt: "openai-responses",
  claude: "anthropic-messages",
  copilot: "openai-chat",
} as const;

/** Public client ids of VS Code, Copilot's editor plugins, GitHub CLI and OpenCode. */
const FOREIGN_CLIENT_IDS: readonly string[] = [
  "01ab8ac9400c4e429b23",
  "Iv1.b507a08c87ecfe98",
  "178c6fc778ccc68e1d6a",
  "Ov23li8tweQw6odWQebz",
];

export const providerSchema = z
  .strictObject({
    api: z
      .enum([
        "anthropic-messages",
        "openai-responses",
        "openai-chat",
        "mistral-chat",
        "google-generative",
        "demo",
        "elevenlabs",
        "deepgram",
        "whisper-cpp",
      ])
      .describe(
        "The API that its server offers. The last three are for `media.speech` and `media.transcription` only.",
      ),
    apiKey: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .optional()
      .describe("One key, or several to rotate."),
    subscription: z
      .enum(["chatgpt", "claude", "copilot"])
      .optional()
      .describe(
        "Signs in with a personal subscription in place of `apiKey`, by `signalbox models login`. The vendor may not permit this, or may end it at any time: check its terms.",
      ),
    clientId: z
      .string()
      .regex(/^[A-Za-z0-9.]{10,40}$/, "must be the client id that GitHub shows for the OAuth app")
      .refine(
        (id) => !FOREIGN_CLIENT_IDS.includes(id),
        "is the client id of another program. Register an OAuth app of your own at GitHub",
      )
      .optional()
      .describe("The client id of your own OAuth app at GitHub. Required for `subscription: copilot`."),
    githubHost: z
      .string()
      .regex(/^(?:[a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, "must be a host name such as company.ghe.com")
      .optional()
      .describe("The host of GitHub Enterprise, for `subscription: copilot`. Default: `github.com`."),
    baseUrl: webAddress.optional().describe("The address of its server, if it is not the vendor's own."),
    headers: z.record(z.string(), z.string()).optional().describe("Sent with each request."),
    timeouts: z
      .strictObject({
        firstByteMs: z
          .int()
          .positive()
          .max(3_600_000)
          .optional()
          .describe("Maximum time until the first byte of the response. Default: 55,000."),
        idleMs: z
          .int()
          .positive()
          .max(3_600_000)
          .optional()
          .describe("Maximum time between two parts of the response. Default: 55,000."),
      })
      .optional()
      .describe(
        "Timeouts in milliseconds. Increase them if, for example, the server needs time to load a model.",
      ),
    models: z
      .array(modelSchema)
      .default([])
      .describe("Its models, with limits, prices and quirks. Current models of known vendors need no entry."),
  })
  .superRefine(({ subscription, api, apiKey, clientId, githubHost }, context) => {
    const report = (field: string, message: string): void =>
      context.addIssue({ code: "custom", path: [field], message });
    const needed = subscription && SUBSCRIPTION_APIS[subscription];
    if (needed !== undefined && (api !== needed || apiKey !== undefined))
      report("subscription", `needs \`api: ${needed}\` and no \`apiKey\``);
    if (subscription === "copilot") {
      if (clientId === undefined)
        report("clientId", "is required for `subscription: copilot`. Register an OAuth app at GitHub");
      return;
    }
    if (clientId !== undefined) report("clientId", "needs `subscription: copilot`");
    if (githubHost !== undefined) report("githubHost", "needs `subscription: copilot`");
  })
  .describe(
    "A provider of models, under a name of your choice. `anthropic`, `openai`, `google` and `mistral` need no entry if `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `MISTRAL_API_KEY` is set.",
  );
