import type { AgentMessage, JsonObject } from "@signalbox/agent-core";
import { assistantMessage, toolCall } from "@signalbox/agent-core/test";
import { expect, it } from "vitest";
import { findSentTexts, getMediaMark } from "../index.ts";

function call(id: string, args: JsonObject, name = "message"): AgentMessage {
  return assistantMessage([toolCall(id, name, args)]);
}

function result(toolCallId: string, isError = false): AgentMessage {
  return { role: "toolResult", toolCallId, toolName: "message", content: [], isError, timestamp: 2 };
}

it("returns what was sent to this conversation, without failed or pending calls or other targets", () => {
  expect(
    findSentTexts([
      call("1", { action: "send", message: "here", media: ["a.png"] }),
      result("1"),
      call("2", { action: "send", message: "elsewhere", target: "plain:room" }),
      result("2"),
      call("3", { action: "send", message: "failed" }),
      result("3", true),
      call("4", { action: "edit", message: "changed" }),
      result("4"),
      call("5", { action: "send", message: "of another tool" }, "mail"),
      result("5"),
      call("6", { action: "send", message: "open" }),
    ]),
  ).toEqual(["here", getMediaMark("a.png")]);
});
