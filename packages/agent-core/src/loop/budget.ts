import type { RunLimits } from "../config.ts";
import type { LimitName, RunUsage } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Model, StreamOptions } from "../model.ts";
import { estimateTokens } from "../tokens.ts";
import { addUsage, NO_USAGE, type Usage, validateUsage } from "../usage.ts";

const DEFAULT_TURNS = 200;
const DEFAULT_CALLS = 1_000;
/** How long adapters wait for a silent model by default, and the least that is asked of them. */
const SILENCE_MS = 55_000;
const LEAST_SILENCE_MS = 10_000;

/** What a run has used of what it may use. */
export class Budget {
  readonly #limits: RunLimits;
  #turns = 0;
  #toolCalls = 0;
  #usage: Usage = NO_USAGE;
  #outputTokens = 0;
  #silentMs = 0;

  constructor(limits: RunLimits = {}) {
    this.#limits = limits;
  }

  get used(): RunUsage {
    return { usage: this.#usage, turns: this.#turns, toolCalls: this.#toolCalls };
  }

  addTurn(message: AssistantMessage): void {
    this.#turns++;
    this.addRequest(message);
  }

  /** A model call that is no turn of its own: a summary, or an attempt that was void. */
  addRequest(message: AssistantMessage): void {
    const isLimited = this.#limits.outputTokens !== undefined;
    this.addUsage(message.usage ?? NO_USAGE, isLimited ? estimateTokens(message) : 0);
  }

  /** What failed attempts used before the one that gave the turn. `guess`: output tokens, where they are not known. */
  addUsage(given: Usage, guess: number = 0): void {
    const usage = validateUsage(given);
    this.#usage = addUsage(this.#usage, usage);
    this.#outputTokens += usage.output.total ?? guess;
  }

  /** Counts a call; `false` where no more are allowed. */
  takeCall(): boolean {
    if (this.#toolCalls >= (this.#limits.toolCalls ?? DEFAULT_CALLS)) return false;
    this.#toolCalls++;
    return true;
  }

  /** The limit that forbids another model call. */
  reached(): LimitName | undefined {
    return this.#turns >= (this.#limits.turns ?? DEFAULT_TURNS) ? "turns" : this.spent();
  }

  /** The limit on tokens or money that is used up. */
  spent(): LimitName | undefined {
    const { outputTokens, costMicros } = this.#limits;
    if (outputTokens !== undefined && this.#outputTokens >= outputTokens) return "outputTokens";
    if (costMicros !== undefined && (this.#usage.costMicros ?? 0) >= costMicros) return "costMicros";
    return undefined;
  }

  beginTurn(): void {
    this.#silentMs = 0;
  }

  /** This turn has waited in vain for a summary: a model that stays silent again is given up on that much sooner. */
  addSilence(ms: number): void {
    this.#silentMs += ms;
  }

  /** The options of the next request, with no more output and no more waiting asked for than is left. */
  limited(options: StreamOptions, model: Model): StreamOptions {
    const { outputTokens = Number.POSITIVE_INFINITY } = this.#limits;
    const silenceMs = Math.max(LEAST_SILENCE_MS, (options.silenceMs ?? SILENCE_MS) - this.#silentMs);
    const left = Math.max(1, outputTokens - this.#outputTokens);
    return {
      ...options,
      ...(this.#silentMs > 0 ? { silenceMs } : {}),
      ...(left < (options.maxOutputTokens ?? model.maxOutputTokens) ? { maxOutputTokens: left } : {}),
    };
  }
}
