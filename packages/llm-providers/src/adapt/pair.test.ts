import type { Message, ToolCallBlock, UserMessage } from "@signalbox/agent-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Loss } from "./index.ts";
import { pairCalls } from "./pair.ts";

const fit = (id: string): string => `fit:${id}`;

interface Turn {
  readonly calls: readonly { readonly id: string; readonly cut: boolean }[];
  /** Which results follow, by id; in order and complete where absent. */
  readonly results: readonly string[] | undefined;
  readonly user: boolean;
  readonly stopped: boolean;
}

const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
const turn: fc.Arbitrary<Turn> = fc.record({
  calls: fc.array(fc.record({ id, cut: fc.boolean() }), { maxLength: 4 }),
  // Most turns are as a loop leaves them, which is what the shortcut is for.
  results: fc.option(fc.array(id, { maxLength: 5 }), { nil: undefined, freq: 3 }),
  user: fc.boolean(),
  stopped: fc.boolean(),
});

function historyOf(turns: readonly Turn[]): Message[] {
  const out: Message[] = [{ role: "user", content: "Go.", timestamp: 0 }];
  turns.forEach(({ calls, results, user, stopped }, at) => {
    const content = calls.map(
      ({ id, cut }): ToolCallBlock => ({
        type: "toolCall",
        id,
        name: "t",
        args: cut ? undefined : {},
        argsText: cut ? "{" : "{}",
      }),
    );
    out.push({
      role: "assistant",
      content: content.length > 0 ? content : [{ type: "text", text: `${at}` }],
      api: "a",
      provider: "p",
      model: "m",
      stopReason: stopped ? "error" : "tool_use",
      timestamp: at,
    });
    for (const toolCallId of results ?? calls.map((call) => call.id)) {
      const text = `${at} ${toolCallId}`;
      out.push({
        role: "toolResult",
        toolCallId,
        toolName: "t",
        content: [{ type: "text", text }],
        isError: false,
        timestamp: at,
      });
    }
    if (user) out.push({ role: "user", content: `then ${at}`, timestamp: at });
  });
  return out;
}

interface Paired {
  readonly messages: readonly Message[];
  readonly losses: readonly Loss[];
}

function pair(messages: readonly Message[], places: readonly number[]): Paired {
  const losses: Loss[] = [];
  return { messages: pairCalls(messages, places, losses, fit), losses };
}

/** The same pairing with a word of a person's behind every turn, which keeps any turn from the shortcut. */
function pairTheLongWay(history: readonly Message[]): Paired {
  const words = new Set<Message>();
  const messages: Message[] = [];
  const places: number[] = [];
  history.forEach((message, place) => {
    messages.push(message);
    places.push(place);
    if (message.role !== "assistant") return;
    const word: UserMessage = { role: "user", content: "word", timestamp: 0 };
    words.add(word);
    messages.push(word);
    places.push(-1);
  });
  const paired = pair(messages, places);
  return { ...paired, messages: paired.messages.filter((message) => !words.has(message)) };
}

test("the shortcut for a conversation in order is the same as the long way", () => {
  let ordered = 0;
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
      const history = historyOf(turns);
      const short = pair(history, [...history.keys()]);
      const long = pairTheLongWay(history);
      expect(short).toEqual(long);
      if (short.losses.length === 0) ordered++;
    }),
    { numRuns: 3_000 },
  );
  expect(ordered).toBeGreaterThan(300);
});

test("a conversation in order comes back message by message, as the very same objects", () => {
  const history = historyOf([
    {
      calls: [
        { id: "a", cut: false },
        { id: "b", cut: true },
      ],
      results: undefined,
      user: false,
      stopped: false,
    },
    { calls: [{ id: "c", cut: false }], results: undefined, user: true, stopped: false },
    { calls: [], results: undefined, user: false, stopped: false },
  ]);
  const { messages, losses } = pair(history, [...history.keys()]);
  expect(losses).toEqual([]);
  expect(messages.every((message, at) => message === history[at])).toBe(true);
});
