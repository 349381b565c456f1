import { expectTypeOf, test } from "vitest";
import {
  type AgentMessage,
  type AssistantMessage,
  type Message,
  repairHistory,
  type ToolResult,
  toWellFormed,
  type UserMessage,
  withContent,
} from "../src/index.ts";

declare const said: UserMessage;
declare const turn: AssistantMessage;
declare const result: ToolResult;

test("a message stays what it is with other content", () => {
  expectTypeOf(withContent(turn, [{ type: "text", text: "x" }])).toEqualTypeOf<AssistantMessage>();
  expectTypeOf(withContent(result, [])).toEqualTypeOf<ToolResult>();
  // @ts-expect-error only a model makes calls
  withContent(said, [{ type: "toolCall", id: "a", name: "t", args: {}, argsText: "{}" }]);
});

test("a value stays what it is when it is made well-formed", () => {
  expectTypeOf(toWellFormed(turn)).toEqualTypeOf<AssistantMessage>();
  expectTypeOf(toWellFormed({ name: "x" })).toEqualTypeOf<{ name: string }>();
});

test("a repaired history holds what the given one held, and results that were missing", () => {
  const messages: Message[] = [said, turn];
  expectTypeOf(repairHistory(messages).messages).toEqualTypeOf<readonly Message[]>();
  const all: AgentMessage[] = messages;
  expectTypeOf(repairHistory(all).messages).toEqualTypeOf<readonly AgentMessage[]>();
});
