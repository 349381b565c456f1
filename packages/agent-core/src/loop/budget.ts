import type { RunLimits } from "../config.ts";
import type { LimitName, RunUsage } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Model, StreamOptions } from "../model.ts";
import type { AttemptFailure } from "../model-error.ts";
import { estimateTokens } from "../tokens.ts";
import { addModelUsage, addUsage, type ModelUsage, NO_USAGE, type Usage, validateUsage } from "../usage.ts";

const DEFAULT_TURNS = 200;
const DEFAULT_CALLS = 1_000;
/** Default silence timeout for a model, and the shortest one that is requested, in milliseconds. */
const SILENCE_MS = 55_000;
const MIN_SILENCE_MS = 10_000;

/** The usage of a run and its limits. */
export class Budget {
  readonly #limits: RunLimits;
  #turns = 0;
  #toolCalls = 0;
  #usage: Usage = NO_USAGE;
  #models: readonly ModelUsage[] = [];
  #outputTokens = 0;
  #silentMs = 0;

  constructor(limits: RunLimits = {}) {
    this.#limits = limits;
  }

  get used(): RunUsage {
    return { usage: this.#usage, turns: this.#turns, toolCalls: this.#toolCalls, models: this.#models };
  }

  addTurn(message: AssistantMessage): void {
    this.#turns++;
    this.#add({ ...usageOf(message), turns: 1 }, this.#guess(message));
  }

  /** Adds the usage of a model call that is not a turn, such as a summary or a discarded attempt. */
  addRequest(message: AssistantMessage): void {
    this.#add(usageOf(message), this.#guess(message));
  }

  /** Adds the usage of failed attempts. */
  addFailures(failures: readonly AttemptFailure[]): void {
    for (const { provider, model, usage } of failures)
      if (usage !== undefined) this.#add({ provider, model, usage, turns: 0 }, 0);
  }

  /** @param guess output tokens to count if the usage does not include them */
  #add(given: ModelUsage, guess: number): void {
    const usage = validateUsage(given.usage);
    this.#usage = addUsage(this.#usage, usage);
    this.#models = addModelUsage(this.#models, { ...given, usage });
    this.#outputTokens += usage.output.total ?? guess;
  }

  #guess(message: AssistantMessage): number {
    return this.#limits.outputTokens === undefined ? 0 : estimateTokens(message);
  }

  /** Counts a call. Returns false if the limit is reached. */
  takeCall(): boolean {
    if (this.#toolCalls >= (this.#limits.toolCalls ?? DEFAULT_CALLS)) return false;
    this.#toolCalls++;
    return true;
  }

  /** Returns the limit that prevents another model call, if any. */
  reached(): LimitName | undefined {
    return this.#turns >= (this.#limits.turns ?? DEFAULT_TURNS) ? "turns" : this.spent();
  }

  /** Returns the token or cost limit that is used up, if any. */
  spent(): LimitName | undefined {
    const { outputTokens, costMicros } = this.#limits;
    if (outputTokens !== undefined && this.#outputTokens >= outputTokens) return "outputTokens";
    if (costMicros !== undefined && (this.#usage.costMicros ?? 0) >= costMicros) return "costMicros";
    return undefined;
  }

  beginTurn(): void {
    this.#silentMs = 0;
  }

  /** Shortens the silence timeout after the model was silent during a summary in this turn. */
  addSilence(ms: number): void {
    this.#silentMs += ms;
  }

  /** Returns the options of the next request, limited to the remaining output tokens and silence timeout. */
  limited(options: StreamOptions, model: Model): StreamOptions {
    const { outputTokens = Number.POSITIVE_INFINITY } = this.#limits;
    const silenceMs = Math.max(MIN_SILENCE_MS, (options.silenceMs ?? SILENCE_MS) - this.#silentMs);
    const left = Math.max(1, outputTokens - this.#outputTokens);
    return {
      ...options,
      ...(this.#silentMs > 0 ? { silenceMs } : {}),
      ...(left < (options.maxOutputTokens ?? model.maxOutputTokens) ? { maxOutputTokens: left } : {}),
    };
  }
}

const usageOf = ({ provider, model, usage = NO_USAGE }: AssistantMessage): ModelUsage => ({
  provider,
  model,
  usage,
  turns: 0,
});
