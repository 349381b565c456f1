import { describe, expect, it } from "vitest";
import { type ClientFrame, parseClientFrame, parseServerFrame, type ServerFrame } from "../src/index.ts";

const clientFrames: ClientFrame[] = [
  { type: "subscribe", conversation: "c1" },
  { type: "subscribe", conversation: "c1", agent: "coder" },
  { type: "send", id: "01J", agent: "coder", conversation: "对话", text: "你好" },
  { type: "unsubscribe", conversation: "c1" },
  { type: "abort", conversation: "c1" },
  { type: "watch" },
  { type: "unwatch" },
  { type: "ping" },
];

const serverFrames: ServerFrame[] = [
  {
    type: "ready",
    protocol: 1,
    user: { id: "owner", name: "Owner" },
    agents: [{ id: "coder", name: "代码助手", model: "demo/demo", demo: true }],
    demo: true,
  },
  { type: "subscribed", conversation: "c1", busy: false },
  { type: "subscribed", conversation: "c1", busy: true, lastRun: { runId: "r1", outcome: "replied" } },
  { type: "accepted", id: "01J", conversation: "c1", messageId: "m1", duplicate: false },
  { type: "run.start", conversation: "c1", runId: "r1" },
  { type: "text.delta", conversation: "c1", runId: "r1", delta: "" },
  { type: "thinking.delta", conversation: "c1", runId: "r1", delta: "…" },
  { type: "tool.start", conversation: "c1", runId: "r1", call: { id: "t1", name: "ls", args: null } },
  { type: "tool.update", conversation: "c1", runId: "r1", call: { id: "t1", name: "ls", text: "1 of 9" } },
  {
    type: "tool.end",
    conversation: "c1",
    runId: "r1",
    call: { id: "t1", name: "ls", isError: false, text: "", durationMs: 3 },
  },
  { type: "message", conversation: "c1", message: { id: "m2", role: "assistant", text: "hi", at: 1 } },
  {
    type: "message",
    conversation: "c1",
    message: {
      id: "m3",
      role: "tool",
      text: "",
      at: 1,
      call: { id: "t1", name: "ls", args: {}, isError: true },
    },
  },
  {
    type: "run.end",
    conversation: "c1",
    runId: "r1",
    outcome: "replied",
    usage: { inputTokens: 1, outputTokens: 2, costMicros: 3 },
    answers: ["m1"],
  },
  { type: "error", code: "full", message: "Too much waits.", remedy: "Try again in a minute." },
  {
    type: "activity",
    activity: {
      runs: [
        {
          runId: "r1",
          sessionKey: "s",
          agent: "coder",
          startedAt: 1,
          calls: [{ id: "t1", name: "ls", state: "done", args: "{}", durationMs: 3 }],
        },
      ],
      waiting: [],
      commands: [{ id: "p1", sessionKey: "s", command: "make", startedAt: 1 }],
      schedules: [],
    },
  },
  { type: "pong" },
];

describe("frames", () => {
  it.each(clientFrames)("parses the client frame $type", (frame) => {
    expect(parseClientFrame(JSON.stringify(frame))).toEqual({ ok: true, frame });
  });

  it.each(serverFrames)("parses the server frame $type", (frame) => {
    expect(parseServerFrame(JSON.stringify(frame))).toEqual(frame);
  });

  it("ignores unknown fields and unknown frame types of a newer gateway", () => {
    const agent = { id: "coder", name: "Coder", model: "demo/demo", demo: true };
    const ready = { type: "ready", protocol: 1, user: { id: "o", name: "O" }, agents: [agent], demo: true };
    const newer = { ...ready, theme: "dark", agents: [{ ...agent, avatar: "🤖" }] };
    expect(parseServerFrame(JSON.stringify(newer))).toEqual(ready);
    expect(parseServerFrame(JSON.stringify({ type: "run.paused", conversation: "c1" }))).toBeUndefined();
    expect(parseServerFrame(JSON.stringify({ ...ready, protocol: 2 }))).toBeUndefined();
  });

  it("rejects a frame without a required field", () => {
    const optional = new Set(["agent", "lastRun", "usage", "answers", "remedy"]);
    for (const frame of [...clientFrames, ...serverFrames]) {
      for (const field of Object.keys(frame)) {
        if (optional.has(field)) continue;
        const data = JSON.stringify(
          Object.fromEntries(Object.entries(frame).filter(([name]) => name !== field)),
        );
        const read = clientFrames.some((each) => each === frame)
          ? parseClientFrame(data).ok
          : parseServerFrame(data) !== undefined;
        expect(read, `${frame.type} without ${field}`).toBe(false);
      }
    }
  });

  it.each([
    ["", "A frame must be a JSON object."],
    ["[]", "A frame must be a JSON object."],
    ["null", "A frame must be a JSON object."],
    ['{"type":"toString"}', "The frame has an unknown or missing type."],
    ['{"type":"__proto__"}', "The frame has an unknown or missing type."],
    ['{"type":["send"]}', "The frame has an unknown or missing type."],
    ['{"type":"abort","conversation":"a\\nb"}', 'The frame has a missing or invalid "conversation".'],
    ['{"type":"abort","conversation":""}', 'The frame has a missing or invalid "conversation".'],
  ])("reports the problem of the invalid frame %s", (data, message) => {
    expect(parseClientFrame(data)).toMatchObject({ ok: false, message });
    expect(parseServerFrame(data)).toBeUndefined();
  });

  it("returns the id and the conversation of an invalid send", () => {
    const data = JSON.stringify({ type: "send", id: "a b", agent: "x", conversation: "c1", text: "hi" });
    expect(parseClientFrame(data)).toEqual({
      ok: false,
      message: 'The frame has a missing or invalid "id".',
      id: "a b",
      conversation: "c1",
    });
  });
});
