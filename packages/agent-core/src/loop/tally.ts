import type { RunLimits } from "../config.ts";
import type { LimitName } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Model, StreamOptions, Usage } from "../model.ts";
import { estimateTokens } from "../tokens.ts";
import { addUsage, NO_USAGE, soundUsage } from "../usage.ts";

const DEFAULT_TURNS = 200;
const DEFAULT_CALLS = 1_000;
/** What an adapter asks for when it is told nothing. */
const DEFAULT_OUTPUT = 8_192;
/** How long adapters wait for a silent model by default, and the least of it. */
const PATIENCE_MS = 55_000;
const LEAST_PATIENCE_MS = 10_000;

/** Counts what a run uses, and says which limit it has reached. */
export class Tally {
  turns = 0;
  toolCalls = 0;
  /** Milliseconds this turn has waited for a model that gave nothing. */
  inVainMs = 0;
  usage: Usage = NO_USAGE;
  private outputTokens = 0;
  private readonly limits: RunLimits;

  constructor(limits: RunLimits) {
    this.limits = limits;
  }

  addTurn(message: AssistantMessage): void {
    this.turns++;
    if (message.usage !== undefined || this.limits.outputTokens !== undefined) this.add(message);
  }

  /** A model call that is no turn of its own: a summary, a try that was void. */
  add(message: AssistantMessage): void {
    const usage = message.usage && soundUsage(message.usage);
    if (usage !== undefined) this.usage = addUsage(this.usage, usage);
    if (this.limits.outputTokens !== undefined) {
      this.outputTokens += usage?.output.total ?? estimateTokens(message);
    }
  }

  /** What an attempt used whose turn came from another one. */
  addUsage(given: Usage): void {
    const usage = soundUsage(given);
    this.usage = addUsage(this.usage, usage);
    this.outputTokens += usage.output.total ?? 0;
  }

  /** The limit that forbids another model call. */
  reached(): LimitName | undefined {
    const { turns, outputTokens, costMicros } = this.limits;
    if (this.turns >= (turns ?? DEFAULT_TURNS)) return "turns";
    return outputTokens === undefined && costMicros === undefined ? undefined : this.spent();
  }

  /** The budget that is used up. */
  spent(): LimitName | undefined {
    const { outputTokens, costMicros } = this.limits;
    if (outputTokens !== undefined && this.outputTokens >= outputTokens) return "outputTokens";
    if (costMicros !== undefined && (this.usage.costMicros ?? 0) >= costMicros) return "costMicros";
    return undefined;
  }

  noMoreCalls(): boolean {
    return this.toolCalls >= (this.limits.toolCalls ?? DEFAULT_CALLS);
  }

  /** The options of the next request, with no more output asked for, and no more patience, than is left. */
  clip(given: StreamOptions, model: Model): StreamOptions {
    const limit = this.limits.outputTokens;
    if (limit === undefined && this.inVainMs === 0) return given;
    const options = this.patient(given);
    if (limit === undefined) return options;
    const asked = options.maxOutputTokens ?? Math.min(model.maxOutputTokens, DEFAULT_OUTPUT);
    return { ...options, maxOutputTokens: Math.max(1, Math.min(asked, limit - this.outputTokens)) };
  }

  /** Whoever waits has waited for a summary already: a model that stalls again is given up so much the earlier. */
  private patient(options: StreamOptions): StreamOptions {
    if (this.inVainMs === 0) return options;
    const left = (options.silenceMs ?? PATIENCE_MS) - this.inVainMs;
    return { ...options, silenceMs: Math.max(LEAST_PATIENCE_MS, left) };
  }
}
