import type { FakeAnthropic } from "@signalbox/testkit/anthropic";
import { z } from "zod";

/** What the tests read of a request to Anthropic's Messages API. */
const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().optional(),
  content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
  cache_control: z.object({ type: z.literal("ephemeral") }).optional(),
});
const request = z.looseObject({
  model: z.string(),
  system: z.array(block),
  messages: z.array(
    z.object({ role: z.enum(["user", "assistant"]), content: z.union([z.string(), z.array(block)]) }),
  ),
  tools: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string(),
      input_schema: z.looseObject({
        type: z.literal("object"),
        properties: z.record(z.string(), z.unknown()),
        required: z.array(z.string()).optional(),
      }),
    }),
  ),
});
type Request = z.output<typeof request>;

/** One request as the model got it. */
export interface ModelRequest {
  /** The system prompt up to the cache boundary, and what follows it. */
  readonly stable: string;
  readonly volatile: string;
  /** The texts of each message, joined. */
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly tools: readonly string[];
  readonly body: Request;
}

/** What the fake server answered with 200, in order. */
export function modelRequests(anthropic: FakeAnthropic): ModelRequest[] {
  return anthropic.requests
    .filter(({ status }) => status === 200)
    .map((seen) => {
      const body = request.parse(seen.body);
      const [first, ...rest] = body.system.map(({ text }) => text ?? "");
      return {
        stable: first ?? "",
        volatile: rest.join("\n\n"),
        messages: body.messages.map(({ role, content }) => ({ role, text: textOf(content) })),
        tools: body.tools.map(({ name }) => name),
        body,
      };
    });
}

/** How many cache breakpoints a request holds. */
export function cacheMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one: unknown) => sum + cacheMarks(one), 0);
  if (value === null || typeof value !== "object") return 0;
  return Object.entries(value).reduce(
    (sum, [key, one]) => sum + (key === "cache_control" ? 1 : cacheMarks(one)),
    0,
  );
}

/** Texts and tool results of a message's content. */
function textOf(content: Request["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map((one) => {
      if (one.type !== "tool_result") return one.text ?? "";
      const { content: result = "" } = one;
      return typeof result === "string" ? result : result.map(({ text }) => text ?? "").join("\n");
    })
    .join("\n");
}

/** The JSON of every fenced block of a text, in order. */
export function fences(text: string): unknown[] {
  return [...text.matchAll(/^```json\n([\s\S]*?)\n```$/gm)].map(([, json]) => JSON.parse(json ?? ""));
}
