import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

/** A scenario file that cannot be read; the message names the file and the fields. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
}

/** One scripted answer of the model. */
export interface ScenarioTurn {
  /**
   * Words that the last message of a request has to hold to be answered so. Turns without are taken in order, by
   * requests that no other turn is for.
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

/** What happens in a scenario: somebody does something, or time passes. */
type ScenarioEvent = PlatformEvent | TimePassing;

/** Whatever came before has come to rest; then the clock is so much later, as `30m` or `1d 2h`. */
interface TimePassing {
  readonly wait: string;
}

/** One event of a platform. */
export interface PlatformEvent {
  readonly channel: "discord" | "feishu" | "slack" | "telegram" | "web";
  readonly account: string;
  /** The platform's body as it is; otherwise the fields below make a text message. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly eventId?: string | undefined;
  readonly sender?: string | undefined;
  readonly messageId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly chatType?: "p2p" | "group" | undefined;
  /** The text mentions the bot. */
  readonly mention?: boolean | undefined;
  readonly text?: string | undefined;
}

/** What a scenario expects; what is left out is not compared. */
export interface Expectation {
  /** HTTP status of each event's answer. */
  readonly answers?: readonly number[] | undefined;
  /** The end of each message, in order of arrival. */
  readonly messages?:
    | readonly {
        readonly state: string;
        readonly rule?: string | undefined;
        readonly agent?: string | undefined;
        readonly sessionKey?: string | undefined;
        readonly matchedBy?: string | undefined;
      }[]
    | undefined;
  /** Every model request, in the order of the turns that answer them: its exact tools, and texts its body must hold. */
  readonly requests?:
    | readonly {
        readonly tools?: readonly string[] | undefined;
        readonly contains?: readonly string[] | undefined;
      }[]
    | undefined;
  /** Every tool call, in order. */
  readonly tools?: readonly { readonly name: string; readonly isError: boolean }[] | undefined;
  /** Every message the platform took. */
  readonly sent?:
    | readonly {
        readonly channel: string;
        readonly method: string;
        readonly path: string;
        readonly contains?: readonly string[] | undefined;
      }[]
    | undefined;
  /** Texts that files of a workspace must start with, by `agent/path`. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** A scenario file. */
export interface Scenario {
  readonly name: string;
  readonly description: string;
  /** A configuration; stand-ins are there as `${ANTHROPIC_URL}`, `${FEISHU_URL}` and the like. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Files to put into the workspaces, by agent and path. */
  readonly workspace: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Names the platform's contacts know, by channel and id. */
  readonly people: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** When it begins, with an offset from UTC; default: now. */
  readonly startsAt?: string | undefined;
  readonly events: readonly ScenarioEvent[];
  /** What the model answers. */
  readonly model: readonly ScenarioTurn[];
  readonly expect: Expectation;
}

/** What `wait` may be. */
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
  channel: z.enum(["discord", "feishu", "slack", "telegram", "web"]),
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
 * @throws ScenarioError naming the file and the field
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

/** Why a file is no scenario, in words. */
function unreadable(file: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return `There is no file ${file}. Name the YAML file of a scenario.`;
  if (code === "EISDIR")
    return `${file} is a folder. Name the YAML files in it, for instance ${file}/*.yaml.`;
  return `${file}: ${error instanceof Error ? error.message : String(error)}`;
}

/** What happens on platforms, in order. */
export function platformEvents({ events }: Scenario): readonly PlatformEvent[] {
  return events.flatMap((event) => ("wait" in event ? [] : [event]));
}
