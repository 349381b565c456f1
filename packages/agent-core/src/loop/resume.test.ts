import { describe, expect, it } from "vitest";
import { run } from "../../test/run.ts";
import { assistant, lines, text, tool, toolCall, user } from "../../test/scripted.ts";
import { STOP_REASONS, type Tool, textOf } from "../index.ts";

describe("continuing", () => {
  const t = (effects: Tool["effects"], ran: string[] = []): Tool =>
    tool(
      "t",
      async (call) => {
        ran.push(call.id);
        return text(`ran ${call.id}`);
      },
      { effects },
    );
  const history = [user("go"), assistant([toolCall("a", "t"), toolCall("b", "t", { x: 1 })])];

  it("requests a turn after results or a user message", async () => {
    const { result } = await run(["ok"], {}, { history: [user("hello")], input: [] });
    expect(result).toMatchObject({ reason: "done", text: "ok" });
    expect(result.messages).toHaveLength(1);
  });

  it("runs harmless pending calls again, and reports an unknown outcome of the others", async () => {
    const ran: string[] = [];
    const harmless = await run(["ok"], {}, { history, input: [], tools: [t("idempotent", ran)] });
    expect(ran).toEqual(["a", "b"]);
    expect(lines(harmless.asked[0]?.messages ?? []).slice(2)).toEqual(["result#a: ran a", "result#b: ran b"]);
    const external = await run(["ok"], {}, { history, input: [], tools: [t("external", ran)] });
    expect(ran).toEqual(["a", "b"]);
    expect(lines(external.asked[0]?.messages ?? [])[2]).toContain("whether it took effect is unknown");
  });

  it("runs keyed calls again under their id, and never under another", async () => {
    const ran: string[] = [];
    const again = await run(["ok"], {}, { history, input: [], tools: [t("keyed", ran)] });
    expect(ran).toEqual(["a", "b"]);
    expect(lines(again.asked[0]?.messages ?? []).slice(2)).toEqual(["result#a: ran a", "result#b: ran b"]);
    const spoken = await run(["ok"], {}, { history, input: [user("wait")], tools: [t("keyed", ran)] });
    expect(ran).toEqual(["a", "b"]);
    expect(lines(spoken.asked[0]?.messages ?? [])[2]).toContain("whether it took effect is unknown");
  });

  it("reports an unknown outcome of a call that may have started, if the run is stopped first", async () => {
    const stop = new AbortController();
    stop.abort();
    const { result } = await run(
      ["never"],
      { signal: stop.signal, onPendingCall: () => ({ action: "run" }) },
      { history, input: [], tools: [t("keyed")] },
    );
    const [first] = result.messages;
    expect(first?.role === "toolResult" ? textOf(first.content) : first).toContain("effect is unknown");
  });

  it("follows the host's decision about each pending call, with results in the order of the calls", async () => {
    const ran: string[] = [];
    const partly = [
      ...history,
      { ...createResult("b"), content: [{ type: "text", text: "from before" }] } as const,
    ];
    const { asked } = await run(
      ["ok"],
      { onPendingCall: ({ call }) => ({ action: "result", result: text(`told ${call.id}`) }) },
      { history: partly, input: [], tools: [t("external", ran)] },
    );
    expect(ran).toEqual([]);
    expect(lines(asked[0]?.messages ?? []).slice(2)).toEqual(["result#a: told a", "result#b: from before"]);
    const again = await run(
      ["ok"],
      { onPendingCall: () => ({ action: "run" }) },
      { history, input: [], tools: [t("external", ran)] },
    );
    expect(ran).toEqual(["a", "b"]);
    expect(again.result.reason).toBe("done");
  });

  it("waits again if the host decides so", async () => {
    const { result, asked } = await run(
      ["never"],
      { onPendingCall: ({ call }) => ({ action: call.id === "a" ? "wait" : "run" }) },
      { history, input: [], tools: [t("none")] },
    );
    expect(result.reason).toBe("waiting");
    expect(result.pending.map((call) => call.id)).toEqual(["a", "b"]);
    expect(asked).toHaveLength(0);
  });

  it("does not run pending calls if there is new input", async () => {
    const ran: string[] = [];
    const { asked } = await run(
      ["ok"],
      {},
      { history, input: [user("Never mind")], tools: [t("none", ran)] },
    );
    expect(ran).toEqual([]);
    expect(lines(asked[0]?.messages ?? []).at(-1)).toBe("user: Never mind");
    expect(asked[0]?.messages).toHaveLength(5);
  });

  it("loses no message that arrives while calls wait", async () => {
    const { result, asked } = await run(
      ["ok"],
      { onPendingCall: () => ({ action: "wait" }) },
      { history, input: [user("Never mind")], tools: [t("none")] },
    );
    expect(result.reason).toBe("done");
    expect(lines(asked[0]?.messages ?? []).slice(2)).toEqual([
      "result#a: Not run: the call was still waiting for a decision when the user sent a new message.",
      "result#b: Not run: the call was still waiting for a decision when the user sent a new message.",
      "user: Never mind",
    ]);
  });

  it.each(["max_tokens", "pause", "aborted", "error", "context_overflow"] as const)(
    "takes up an answer that ended with %s",
    async (stopReason) => {
      const { next } = STOP_REASONS[stopReason];
      const history = [user("go"), assistant("half", { stopReason })];
      const { asked } = await run(["rest"], {}, { history, input: [] });
      expect(asked[0]?.messages.at(-1)?.role).toBe(next === "resume" ? "assistant" : "user");
    },
  );

  it("fails with hook_failed if onPendingCall throws's where a queue throws before it has begun", async () => {
    const steering = () => {
      throw new Error("no queue");
    };
    const waiting = { history: [user("go"), assistant("done")], input: [] };
    await expect(run(["x"], { steering }, waiting)).rejects.toMatchObject({
      code: "hook_failed",
      message: "no queue",
    });
  });

  it("rejects if there is nothing to continue", async () => {
    await expect(run(["x"], {}, { history: [user("a"), assistant("b")], input: [] })).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    await expect(run(["x"], {}, { history: [], input: [] })).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    await expect(run(["x"], {}, { input: [assistant("not yours")] })).rejects.toMatchObject({
      code: "invalid_input",
    });
  });
});

function createResult(id: string) {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: "t",
    content: [],
    isError: false,
    timestamp: 1,
  } as const;
}
