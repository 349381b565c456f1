import type {
  Model,
  ModelContext,
  ModelErrorCode,
  ModelEvent,
  StreamModel,
  Usage,
} from "@signalbox/agent-core";
import { failure } from "../../src/failure/failure.ts";
import { createProviders, type Provider } from "../../src/provider/provider.ts";
import { createModelRunner, type RunnerOptions } from "../../src/runner/runner.ts";
import { modelTurn } from "../../src/turn/turn.ts";

/** How a fake vendor answers one request. */
export type Play =
  | { readonly say: string }
  | {
      readonly fail: ModelErrorCode;
      readonly after?: string;
      readonly retryAfterMs?: number;
      readonly midCall?: true;
      /** How long it takes in milliseconds, or all of the allowed silence. */
      readonly takes?: number | "silenceMs";
      readonly usage?: Usage;
    };

export const model = (provider: string, id = "m", tools: Model["tools"] = "native"): Model => ({
  id,
  provider,
  api: "pretend",
  contextWindow: 1_000,
  maxOutputTokens: 100,
  input: ["text"],
  thinking: [],
  tools,
});
export const context: ModelContext = {
  system: { stable: "" },
  messages: [{ role: "user", content: "Go.", timestamp: 0 }],
  tools: [],
};

/** A runner over fake vendors that answer as scripted, and the requests that they received. */
export function stage(
  plays: readonly Play[],
  accounts: Record<string, readonly string[]>,
  options: Partial<RunnerOptions> = {},
) {
  const seen: string[] = [];
  const slept: number[] = [];
  const silences: (number | undefined)[] = [];
  let now = 0;
  const pretend: Provider = {
    api: "pretend",
    connect:
      ({ apiKey }): StreamModel =>
      (asked, _context, how) =>
        modelTurn({ model: asked, options: how, now: () => now }, async function* (turn) {
          const play = plays[seen.length];
          seen.push(`${asked.provider}/${asked.id} ${apiKey ?? "-"}`);
          if (play === undefined) throw new Error("nothing more to play");
          silences.push(how?.silenceMs);
          turn.start();
          if ("say" in play) {
            const index = turn.open({ type: "text" });
            turn.append(index, play.say);
            turn.finish("end_turn");
          } else {
            if (play.midCall) turn.append(turn.open({ type: "toolCall", id: "c", name: "t" }), '{"a');
            if (play.after !== undefined) turn.append(turn.open({ type: "text" }), play.after);
            if (play.usage !== undefined) turn.usage(play.usage);
            now += play.takes === "silenceMs" ? (how?.silenceMs ?? 300_000) : (play.takes ?? 0);
            turn.fail(failure(play.fail, `${play.fail} here`, { retryAfterMs: play.retryAfterMs }));
          }
          yield;
        }),
  };
  const runner = createModelRunner({
    providers: createProviders([pretend]),
    accounts: Object.entries(accounts).map(([name, keys]) => ({ name, api: "pretend", keys })),
    now: () => now,
    random: () => 0.5,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
    ...options,
  });
  return {
    runner,
    seen,
    slept,
    silences,
    now: () => now,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

export const kinds = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === "attempt" ? [`${event.failure.code}>${event.next.kind}`] : []));
