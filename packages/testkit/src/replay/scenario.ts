import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

/** A scenario file is invalid. The message names the file and the fields. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** A scripted answer from the model. */
export interface ScenarioTurn {
  /**
   * Words that the last message of a request must contain for this answer. Turns without words answer the remaining
   * requests in order.
   */
  readonly answers?: string | undefined;
  readonly text?: string | undefined;
  readonly thinking?: string | undefined;
  readonly toolCalls?:
    | readonly {
        readonly id?: string | undefined;
        readonly name: string;
        readonly input: unknown;
        readonly inputText?: string | undefined;
      }[]
    | undefined;
  readonly stopReason?: string | undefined;
  readonly error?:
    | {
        readonly status: number;
        readonly type?: string | undefined;
        readonly message?: string | undefined;
        readonly retryAfter?: number | undefined;
      }
    | undefined;
}

/** A person's action, or the passage of time. */
type ScenarioEvent = PlatformEvent | TimePassing;

/** Waits until no work is pending, then advances the clock, as in `30m` or `1d 2h`. */
interface TimePassing {
  readonly wait: string;
}

/** A platform event. */
export interface PlatformEvent {
  readonly channel:
    | "dingtalk"
    | "discord"
    | "feishu"
    | "imessage"
    | "signal"
    | "slack"
    | "telegram"
    | "web"
    | "wecom"
    | "whatsapp";
  readonly account: string;
  /** The platform's body. Without it, the fields below form a text message. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly eventId?: string | undefined;
  readonly sender?: string | undefined;
  readonly messageId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly chatType?: "p2p" | "group" | undefined;
  /** True if the text mentions the bot. */
  readonly mention?: boolean | undefined;
  readonly text?: string | undefined;
}

/** The expected result. Absent fields are not compared. */
export interface Expectation {
  /** HTTP status of each event's response. */
  readonly answers?: readonly number[] | undefined;
  /** Outcome of each message, in order of arrival. */
  readonly messages?:
    | readonly {
        readonly state: string;
        readonly rule?: string | undefined;
        readonly agent?: string | undefined;
        readonly sessionKey?: string | undefined;
        readonly matchedBy?: string | undefined;
      }[]
    | undefined;
  /**
   * Every model request, in the order of the turns that answer them: its exact tools, and texts that its body must
   * contain.
   */
  readonly requests?:
    | readonly {
        readonly tools?: readonly string[] | undefined;
        readonly contains?: readonly string[] | undefined;
      }[]
    | undefined;
  /** Every tool call, in order. */
  readonly tools?: readonly { readonly name: string; readonly isError: boolean }[] | undefined;
  /** Every message that the platform accepted. */
  readonly sent?:
    | readonly {
        readonly channel: string;
        readonly method: string;
        readonly path: string;
        readonly contains?: readonly string[] | undefined;
      }[]
    | undefined;
  /** Initial contents of workspace files, by `agent/path`. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** A scenario file. */
export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** A configuration. It refers to fake servers as `${ANTHROPIC_URL}`, `${FEISHU_URL}` and so on. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Files to create in the workspaces, by agent and path. */
  readonly workspace: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Names that the platform's contact API returns, by channel and id. */
  readonly people: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Start time with an offset from UTC. Default: now. */
  readonly startsAt?: string | undefined;
  readonly events: readonly ScenarioEvent[];
  /** The model's answers. */
  readonly model: readonly ScenarioTurn[];
  readonly expect: Expectation;
}

/** Format of `wait`. */
const TIME_SPAN = /^\d+[smhd]( \d+[smhd])*$/;

const toolCall = z.strictObject({
  id: z.string().optional(),
  name: z.string(),
  input: z.unknown(),
  inputText: z.string().optional(),
});
const turn = z.strictObject({
  answers: z.string().min(1).optional(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  toolCalls: z.array(toolCall).optional(),
  stopReason: z.string().optional(),
  error: z
    .strictObject({
      status: z.int(),
      type: z.string().optional(),
      message: z.string().optional(),
      retryAfter: z.number().optional(),
    })
    .optional(),
});
const platformEvent = z.strictObject({
  channel: z.enum([
    "dingtalk",
    "discord",
    "feishu",
    "imessage",
    "signal",
    "slack",
    "telegram",
    "web",
    "wecom",
    "whatsapp",
  ]),
  account: z.string().default("main"),
  body: z.record(z.string(), z.unknown()).optional(),
  eventId: z.string().optional(),
  sender: z.string().optional(),
  messageId: z.string().optional(),
  chatId: z.string().optional(),
  chatType: z.enum(["p2p", "group"]).optional(),
  mention: z.boolean().optional(),
  text: z.string().optional(),
});
const timePassing = z.strictObject({
  wait: z.string().regex(TIME_SPAN, "is no time span; write it as 30m or 1d 2h"),
});
const expectation = z.strictObject({
  answers: z.array(z.int()).optional(),
  messages: z
    .array(
      z.strictObject({
        state: z.string(),
        rule: z.string().optional(),
        agent: z.string().optional(),
        sessionKey: z.string().optional(),
        matchedBy: z.string().optional(),
      }),
    )
    .optional(),
  requests: z
    .array(
      z.strictObject({ tools: z.array(z.string()).optional(), contains: z.array(z.string()).optional() }),
    )
    .optional(),
  tools: z.array(z.strictObject({ name: z.string(), isError: z.boolean() })).optional(),
  sent: z
    .array(
      z.strictObject({
        channel: z.string(),
        method: z.string(),
        path: z.string(),
        contains: z.array(z.string()).optional(),
      }),
    )
    .optional(),
  files: z.record(z.string(), z.string()).optional(),
});

const scenario: z.ZodType<Scenario> = z.strictObject({
  name: z.string(),
  description: z.string(),
  config: z.record(z.string(), z.unknown()),
  workspace: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  people: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  startsAt: z.iso.datetime({ offset: true, local: false }).optional(),
  events: z.array(z.union([platformEvent, timePassing])).min(1),
  model: z.array(turn).default([]),
  expect: expectation.default({}),
});

/**
 * Reads a scenario file.
 *
 * @throws ScenarioError that names the file and the field
 */
export function readScenario(file: string): Scenario {
  let value: unknown;
  try {
    value = parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ScenarioError(unreadable(file, error), { cause: error });
  }
  const parsed = scenario.safeParse(value);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${file}: ${issue.path.join(".")}: ${issue.message}`);
  throw new ScenarioError(lines.join("\n"));
}

/** Returns the reason why a file is not a scenario. */
function unreadable(file: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return `There is no file ${file}. Name the YAML file of a scenario.`;
  if (code === "EISDIR")
    return `${file} is a folder. Name the YAML files in it, for instance ${file}/*.yaml.`;
  return `${file}: ${error instanceof Error ? error.message : String(error)}`;
}

/** Returns the events of platforms, in order. */
export function platformEvents({ events }: Scenario): readonly PlatformEvent[] {
  return events.flatMap((event) => ("wait" in event ? [] : [event]));
}
