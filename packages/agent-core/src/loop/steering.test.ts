import { describe, expect, it } from "vitest";
import { queue, run } from "../../test/run.ts";
import { assistant, lines, text, tool, toolCall, user } from "../../test/scripted.ts";

describe("steering", () => {
  it("is added before the next call, and the remaining calls are skipped", async () => {
    const ran: string[] = [];
    const t = tool("t", async (call) => {
      ran.push(call.id);
      return text("ok");
    });
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 }), toolCall("c", "t", { x: 2 })]);
    // Called at the start, before a, and before b.
    const { result, asked } = await run([turn, "fine"], { steering: queue(2, "Stop!") }, { tools: [t] });
    expect(ran).toEqual(["a"]);
    expect(lines(asked[1]?.messages ?? [])).toEqual([
      "user: go",
      "assistant: →t#a →t#b →t#c",
      "result#a: ok",
      expect.stringMatching(/^result#b: Not run: the user sent a message first/),
      expect.stringMatching(/^result#c: Not run: the user sent a message first/),
      "user: Stop!",
    ]);
    expect(result.reason).toBe("done");
  });

  it("is checked once before a parallel batch", async () => {
    let polls = 0;
    const t = tool("t", "ok", { execution: "parallel" });
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 }), toolCall("c", "t", { x: 2 })]);
    await run(
      [turn, "fine"],
      {
        steering: () => {
          polls++;
          return [];
        },
      },
      { tools: [t] },
    );
    // Called at the start, before the batch, and after each of two turns.
    expect(polls).toBe(4);
  });

  it("continues a run that was about to end", async () => {
    const { result, asked } = await run(["first", "second"], { steering: queue(1, "And?") });
    expect(lines(asked[1]?.messages ?? [])).toEqual(["user: go", "assistant: first", "user: And?"]);
    expect(result.text).toBe("second");
  });

  it("that was queued before the run started is added before its first turn", async () => {
    const { asked } = await run(["ok"], { steering: queue(0, "Also this") });
    expect(lines(asked[0]?.messages ?? [])).toEqual(["user: go", "user: Also this"]);
  });

  it("is kept even if the run ends at the same moment", async () => {
    const t = tool("t", "ok");
    const turn = assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })]);
    const controller = new AbortController();
    let polls = 0;
    const { result } = await run(
      [turn],
      {
        signal: controller.signal,
        steering: async () => {
          if (controller.signal.aborted) return [];
          if (++polls < 3) return [];
          controller.abort();
          return [user("last words")];
        },
      },
      { tools: [t] },
    );
    expect(result.reason).toBe("aborted");
    expect(result.messages.at(-1)).toMatchObject({ role: "user", content: "last words" });
  });
});

describe("follow-ups", () => {
  it("continue the run when the agent would stop", async () => {
    const { result, asked } = await run(["first", "second"], { followUps: queue(0, "Next") });
    expect(lines(asked[1]?.messages ?? [])).toEqual(["user: go", "assistant: first", "user: Next"]);
    expect(result).toMatchObject({ reason: "done", text: "second" });
  });

  it("stay queued after an error", async () => {
    let polls = 0;
    const failing = assistant("", {
      content: [],
      stopReason: "error",
      error: { code: "auth", message: "no key", retryable: false, emitted: false, scope: "key" },
    });
    const { result } = await run([failing], {
      followUps: () => {
        polls++;
        return [];
      },
    });
    expect(result).toMatchObject({ reason: "error", error: { code: "auth" } });
    expect(result.messages.map((message) => message.role)).toEqual(["user"]);
    expect(polls).toBe(0);
  });
});
