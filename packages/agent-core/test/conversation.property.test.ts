import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pruneToolResults } from "../src/context/prune.ts";
import { Conversation } from "../src/conversation/conversation.ts";
import { findTurnStart, RequestView } from "../src/conversation/request-view.ts";
import { findPendingCalls } from "../src/conversation/tool-calls.ts";
import type {
  AgentEvent,
  AgentMessage,
  AssistantMessage,
  Block,
  ModelEvent,
  StopReason,
  StreamModel,
  Tool,
  ToolDecision,
} from "../src/index.ts";
import { AgentError, agentLoop, compact, convertToLlm, repairHistory } from "../src/index.ts";
import { orderProblems } from "./event-order.ts";
import { MODEL, SYSTEM, scripted, text, toEvents, tool, user } from "./scripted.ts";
import { vendorProblems } from "./vendor-rules.ts";

const RUNS = Number(process.env.PROPERTY_RUNS ?? 1_000);

const id = fc.constantFrom("a", "b", "c", "d", "");
const words = fc.constantFrom("", " ", "hello", "x".repeat(300), "中".repeat(40), "y".repeat(6_000));
/** Tool names, including invented ones. Only `t` is a tool. */
const name = fc.constantFrom("t", "t", "t", "", " ", "multi_tool_use.parallel", "t.t", "名", "n".repeat(300));
const timestamp = fc.integer({ min: 0, max: 50 });
const stopReason = fc.constantFrom<StopReason>(
  "end_turn",
  "tool_use",
  "tool_use",
  "max_tokens",
  "aborted",
  "error",
  "pause",
  "refusal",
);
const block: fc.Arbitrary<Block> = fc.oneof(
  words.map((value): Block => ({ type: "text", text: value })),
  words.map((value): Block => ({ type: "thinking", text: value })),
  fc.record({ id, name, n: fc.integer({ min: 0, max: 3 }) }).map(
    ({ id: call, name: called, n }): Block => ({
      type: "toolCall",
      id: call,
      name: called,
      args: { n },
      argsText: `{"n":${n}}`,
    }),
  ),
);
const assistant = fc.record({ content: fc.array(block, { maxLength: 5 }), stopReason, timestamp }).map(
  (turn): AssistantMessage => ({
    role: "assistant",
    api: MODEL.api,
    provider: MODEL.provider,
    model: MODEL.id,
    ...turn,
  }),
);
const message: fc.Arbitrary<AgentMessage> = fc.oneof(
  { weight: 3, arbitrary: assistant },
  {
    weight: 3,
    arbitrary: fc.record({ toolCallId: id, value: words, timestamp }).map(
      ({ toolCallId, value, timestamp: at }): AgentMessage => ({
        role: "toolResult",
        toolCallId,
        toolName: "t",
        content: [{ type: "text", text: value }],
        isError: false,
        timestamp: at,
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ content: words, timestamp })
      .map((said): AgentMessage => ({ role: "user", ...said })),
  },
  {
    weight: 1,
    arbitrary: words.map(
      (content): AgentMessage => ({ role: "custom", kind: "note", content, timestamp: 1 }),
    ),
  },
  {
    weight: 1,
    arbitrary: words.map(
      (summary): AgentMessage => ({ role: "compactionSummary", summary, replaced: 2, timestamp: 1 }),
    ),
  },
  {
    weight: 1,
    arbitrary: words.map(
      (output): AgentMessage => ({ role: "shellRun", command: "ls", output, exitCode: 0, timestamp: 1 }),
    ),
  },
);
const history = fc.array(message, { maxLength: 14 });

describe("any conversation", () => {
  it("is valid after a repair, which is idempotent", () => {
    fc.assert(
      fc.property(history, (messages) => {
        const once = repairHistory(messages);
        expect(vendorProblems(once.messages)).toEqual([]);
        expect(repairHistory(once.messages).messages).toBe(once.messages);
        if (once.changes.length > 0)
          expect(vendorProblems(messages).length + once.changes.length).toBeGreaterThan(0);
        else expect(vendorProblems(messages)).toEqual([]);
      }),
      { numRuns: RUNS * 5 },
    );
  });

  it("becomes a valid request, whatever the host sends instead", () => {
    const words = fc.constantFrom("", " ", "other words", undefined);
    fc.assert(
      fc.property(history, fc.array(words, { maxLength: 14 }), fc.nat(14), (messages, said, without) => {
        const changed = messages.map((entry, index) => {
          const content = said[index];
          return entry.role === "user" && content !== undefined ? { ...entry, content } : entry;
        });
        const view = new RequestView(new Conversation(messages));
        const interjected = changed.map((entry, index) => (index === without ? user("wait") : entry));
        for (const given of [changed, interjected, changed.toSpliced(without, 1), messages]) {
          expect(vendorProblems(view.request(given))).toEqual([]);
        }
      }),
      { numRuns: RUNS * 3 },
    );
  });

  it("keeps all results of remaining calls and all user messages", () => {
    fc.assert(
      fc.property(history, (messages) => {
        const said = (list: readonly AgentMessage[]) =>
          list.filter(
            (entry) =>
              entry.role === "shellRun" ||
              ((entry.role === "user" || entry.role === "custom") && String(entry.content).trim() !== ""),
          );
        const repaired = repairHistory(messages).messages;
        for (const entry of said(messages)) expect(repaired).toContain(entry);
      }),
      { numRuns: RUNS },
    );
  });

  it("is valid after pruning, turn limits and compaction, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(fc.constantFrom("soft", "hard", "turns", "compact", "metadata"), { maxLength: 4 }),
        fc.integer({ min: 0, max: 2_000 }),
        async (messages, passes, size) => {
          let now: readonly AgentMessage[] = messages;
          for (const pass of passes) {
            if (pass === "turns") {
              now = now.slice(findTurnStart(now, 1 + (size % 4)));
            } else if (pass === "soft" || pass === "hard") {
              const { changes } = pruneToolResults(now, pass, size % 3);
              now = now.map((entry) => (entry.role === "toolResult" ? (changes.get(entry) ?? entry) : entry));
            } else {
              const { stream } = scripted(pass === "compact" ? "notes" : " ");
              const done = await compact({ messages: now, keepTokens: size, model: MODEL, stream });
              if (done !== undefined) now = [done.summary, ...now.slice(done.replaced)];
            }
          }
          const request = repairHistory(now.map((entry) => convertToLlm(entry)));
          expect(vendorProblems(request.messages)).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

/** One run: the model's turns, and the host's decisions at each hook. */
const scenario = fc.record({
  history,
  turns: fc.array(assistant, { minLength: 1, maxLength: 6 }),
  prompt: fc.boolean(),
  window: fc.constantFrom(2_000, 6_000, 200_000),
  steer: fc.array(fc.boolean(), { maxLength: 12 }),
  followUps: fc.integer({ min: 0, max: 2 }),
  decide: fc.array(fc.constantFrom("allow", "allow", "block", "change", "ask", "throw"), { maxLength: 8 }),
  answers: fc.array(fc.constantFrom("allow", "deny", "wait"), { maxLength: 4 }),
  tool: fc.array(fc.constantFrom("ok", "ok", "long", "throw", "abort", "report"), { maxLength: 8 }),
  attempts: fc.array(fc.constantFrom("none", "none", "before", "between", "void"), { maxLength: 4 }),
  failAt: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined, freq: 8 }),
  parallel: fc.boolean(),
  historyTurns: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  drop: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  overflowAt: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
});

/** A stream of a runner that retries: before the vendor responds, in the middle, or from the start. */
function* attempted(how: string, events: Iterable<ModelEvent>): Generator<ModelEvent> {
  const failure = { provider: "p", model: "m", code: "overloaded", message: "busy" } as const;
  const next = { kind: "retry", provider: "p", model: "m", delayMs: 0 } as const;
  const attempt = { type: "attempt", failure, next } as const;
  const [first, ...rest] = events;
  if (how === "before") yield attempt;
  if (first !== undefined) yield first;
  if (how === "between") yield attempt;
  if (how === "void" && first !== undefined) {
    yield { type: "block.start", index: 0, block: { type: "text" } };
    yield { type: "text.delta", index: 0, delta: "not seen" };
    yield { ...attempt, discard: true };
    yield first;
  }
  yield* rest;
}

describe("any run", () => {
  it("sends only valid conversations, and leaves one that can continue", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const controller = new AbortController();
        const kept: AgentMessage[] = [...given.history];
        const problems: string[] = [];
        let asked = 0;
        let polls = 0;
        let followUps = given.followUps;
        let calls = 0;
        let decisions = 0;
        let entries = 0;
        let questions = 0;

        const first = given.turns[0];
        if (first === undefined) return;
        const saying = (value: string): AssistantMessage => ({
          ...first,
          content: [{ type: "text", text: value }],
          stopReason: "end_turn",
        });
        async function* stream(
          ...[model, context, options]: Parameters<StreamModel>
        ): AsyncGenerator<ModelEvent> {
          if (context.system.stable !== SYSTEM.stable) {
            yield* toEvents(saying("notes"));
            return;
          }
          problems.push(...vendorProblems(context.messages));
          if (context.messages.length === 0) problems.push("empty request");
          const last = context.messages.at(-1);
          if (last?.role === "assistant" && last.stopReason !== "pause")
            problems.push("request ends with the model");
          const n = asked++;
          const turn = given.turns[n] ?? saying("end");
          const code = n === given.overflowAt ? "overflow" : options?.signal?.aborted ? "aborted" : "network";
          const failed =
            n === given.overflowAt || turn.stopReason === "error" || turn.stopReason === "aborted";
          const error = {
            code,
            message: model.id,
            retryable: false,
            emitted: false,
            scope: "model",
          } as const;
          yield* attempted(given.attempts[n] ?? "none", toEvents(failed ? { ...turn, error } : turn));
        }
        const t: Tool = tool("t", async (_call, context) => {
          const what = given.tool[calls++] ?? "ok";
          await undefined;
          if (what === "throw") throw new Error("failed");
          if (what === "abort") controller.abort();
          if (what === "report") for (let i = 0; i < 4; i++) context.update(text("on it"));
          return text(what === "long" ? "z".repeat(9_000) : "fine");
        });
        const tools = [given.parallel ? { ...t, execution: "parallel" as const } : t];
        const run = agentLoop(
          { system: SYSTEM, history: given.history, input: given.prompt ? [user("go")] : [], tools },
          {
            model: { ...MODEL, contextWindow: given.window },
            stream,
            signal: controller.signal,
            abortGraceMs: 1,
            limits: { turns: 12 },
            steering: () => (given.steer[polls++] === true ? [user(`steer ${polls}`)] : []),
            followUps: () => (followUps-- > 0 ? [user("follow-up")] : []),
            beforeToolCall: (): ToolDecision | undefined => {
              switch (given.decide[decisions++]) {
                case "block":
                  return { action: "block", reason: "no" };
                case "change":
                  return { action: "change", args: { n: 9 } };
                case "ask":
                  return { action: "ask", question: "?" };
                case "throw":
                  throw new Error("gate");
                default:
                  return undefined;
              }
            },
            onAsk: () => {
              const action = given.answers[questions++] ?? "allow";
              return action === "deny" ? { action, reason: "no" } : { action };
            },
            onJournalEntry: (entry) => {
              if (entries++ === given.failAt) throw new Error("disk full");
              if (entry.kind === "compaction") kept.splice(0, entry.replaced, ...entry.messages);
              else kept.push(...entry.messages);
            },
            ...(given.drop === undefined
              ? {}
              : { transformContext: (list) => list.slice(Math.min(given.drop ?? 0, list.length - 1)) }),
            context: {
              historyTurns: given.historyTurns,
              compaction: { timeoutMs: 1_000 },
            },
          },
        );
        const events: AgentEvent[] = [];
        let result: Awaited<ReturnType<typeof run.result>>;
        try {
          for await (const event of run) events.push(event);
          result = await run.result();
        } catch (error) {
          if (error instanceof AgentError && error.code === "nothing_to_continue") return;
          if (!(error instanceof AgentError && error.code === "journal_failed")) throw error;
          expect(problems).toEqual([]);
          expect(orderProblems(events)).toEqual([]);
          return;
        }
        expect(problems).toEqual([]);
        expect(orderProblems(events)).toEqual([]);
        expect(events.at(-1)).toEqual({ type: "run.end", result });
        // The stored messages equal those of the result and can be loaded. Calls
        // are pending only if the run waits.
        expect(vendorProblems(repairHistory(kept).messages)).toEqual([]);
        if (findPendingCalls(kept) !== undefined) expect(result.pending).not.toEqual([]);
        expect(result.pending.length > 0).toBe(result.reason === "waiting");
        for (const added of result.messages) {
          if (added.role === "toolResult" || added.role === "assistant" || added.role === "user") {
            const folded = kept.some(
              (entry) => entry.role === "compactionSummary" && entry.summary.includes("notes"),
            );
            if (!folded) expect(kept).toContain(added);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});
