import type { AgentLoopConfig } from "../config.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { AgentEvent } from "../events.ts";
import type { Step } from "../hooks.ts";
import type { AgentMessage } from "../messages.ts";
import type { SystemPrompt } from "../model.ts";
import { compact } from "../overflow/compact.ts";
import { cutPoint } from "../overflow/cut-point.ts";
import { pruneToolResults } from "../overflow/prune.ts";
import type { ToolSet } from "../schema/compile.ts";
import { estimateTokens } from "../tokens.ts";
import type { Tally } from "./tally.ts";

export const PRUNE_AT = 0.7;
const COMPACT_AT = 0.6;
const KEEP_SHARE = 0.25;
/** What has to be added before a conversation that stayed long is compacted again. */
const AGAIN_SHARE = 0.1;

/** What fitting a conversation into the window needs of the run. */
export interface FitHost {
  readonly config: AgentLoopConfig;
  readonly conversation: Conversation;
  readonly tools: ToolSet;
  readonly signal: AbortSignal;
  readonly turn: number;
  emit(event: AgentEvent): Promise<void> | void;
  step(step: Step): Promise<void> | void;
  now(): number;
  /** Counts the model turns that summaries took, and waiting in vain for them. */
  readonly tally: Tally;
}

/**
 * Keeps a conversation inside the model's window, gently first: old results shortened, then removed, then the older
 * part summarised. Below the first threshold it costs one comparison.
 */
export class Fit {
  readonly #host: FitHost;
  #prefix: { readonly system: SystemPrompt; readonly tokens: number } | undefined;

  /** Below this many tokens another compaction in this run would be in vain. */
  #compactAbove = 0;

  constructor(host: FitHost) {
    this.#host = host;
  }

  /** Whether the next request is short enough as it is. */
  fits(system: SystemPrompt): boolean {
    const { config, conversation } = this.#host;
    const above = config.model.contextWindow * (config.context?.pruneAt ?? PRUNE_AT);
    // What precedes the messages is in the vendor's own count.
    return conversation.tokens(conversation.isCounted ? 0 : this.#prefixTokens(system)) <= above;
  }

  /** Before a model call that does not fit. Resolves with how many messages were replaced at the start. */
  async before(system: SystemPrompt): Promise<number> {
    const { config, conversation } = this.#host;
    const { context = {}, model } = config;
    const prefix = this.#prefixTokens(system);
    const compactAbove = model.contextWindow * (context.compactAt ?? COMPACT_AT);
    await this.#prune(prefix, compactAbove, context.protectTurns ?? 3);
    const tokens = conversation.tokens(prefix);
    if (tokens <= Math.max(compactAbove, this.#compactAbove)) return 0;
    const replaced = await this.#compact("threshold", tokens, 1);
    this.#compactAbove = conversation.tokens(prefix) + model.contextWindow * AGAIN_SHARE;
    return replaced;
  }

  /**
   * After the vendor refused a request as too long: whatever makes it shorter. Resolves with how many messages were
   * replaced, or `undefined` when nothing could be done.
   */
  async afterOverflow(system: SystemPrompt): Promise<number | undefined> {
    const { config, conversation } = this.#host;
    const prefix = this.#prefixTokens(system);
    const before = conversation.tokens(prefix);
    const pruned = await this.#prune(prefix, 0, 1);
    // The guess was too low, so what is kept by that measure has to be less by as much.
    const factor = Math.min(1, before / config.model.contextWindow);
    const replaced = await this.#compact("overflow", conversation.tokens(prefix), factor);
    return replaced > 0 || pruned ? replaced : undefined;
  }

  /** On request of the host. */
  manual(): Promise<number> {
    return this.#compact("manual", this.#host.conversation.tokens(0), 1);
  }

  async #prune(prefix: number, target: number, protectTurns: number): Promise<boolean> {
    const { config, conversation } = this.#host;
    const softChars = config.context?.softChars;
    const counts = { soft: 0, hard: 0 };
    let tokensSaved = 0;
    for (const level of ["soft", "hard"] as const) {
      if (conversation.tokens(prefix) <= target) break;
      const options = { level, protectTurns, ...(softChars === undefined ? {} : { softChars }) };
      const view = conversation.messages.map((message) => conversation.prunedAs(message) ?? message);
      const pruned = pruneToolResults(view, options);
      if (pruned.changes.size === 0) continue;
      conversation.prune(pruned.changes, pruned.tokensSaved);
      counts[level] = pruned.changes.size;
      tokensSaved += pruned.tokensSaved;
    }
    if (tokensSaved === 0) return false;
    await this.#host.emit({ type: "prune", ...counts, tokensSaved });
    return true;
  }

  async #compact(
    reason: "threshold" | "overflow" | "manual",
    tokens: number,
    factor: number,
  ): Promise<number> {
    const { config, conversation, signal, turn } = this.#host;
    const policy = config.context?.compaction ?? {};
    if (policy === false) return 0;
    const keepTokens = Math.floor(config.model.contextWindow * (policy.keepShare ?? KEEP_SHARE) * factor);
    const cost = (message: AgentMessage): number => estimateTokens(conversation.prunedAs(message) ?? message);
    if (cutPoint(conversation.messages, keepTokens, cost) === 0) return 0;
    await this.#host.emit({ type: "compaction.start", reason, tokens });
    const begun = this.#host.now();
    const compaction = await compact({
      messages: conversation.messages,
      keepTokens,
      model: config.model,
      stream: config.stream,
      policy,
      signal,
      tokensOf: cost,
      now: () => this.#host.now(),
      onTurn: (used) => this.#host.tally.add(used),
      ...(config.beforeCompaction === undefined ? {} : { beforeCompaction: config.beforeCompaction }),
    });
    if (compaction === undefined) return 0;
    const { summary, replaced, source } = compaction;
    if (source === "metadata") this.#host.tally.inVainMs += this.#host.now() - begun;
    await this.#host.step({
      kind: "compaction",
      turn,
      messages: [summary],
      pendingToolCalls: [],
      summary,
      replaced,
    });
    conversation.compact(summary, replaced);
    await this.#host.emit({ type: "compaction.end", summary, source, tokens: conversation.tokens(0) });
    return replaced;
  }

  #prefixTokens(system: SystemPrompt): number {
    const known = this.#prefix;
    if (known?.system === system) return known.tokens;
    let tokens = estimateTokens(system.stable) + estimateTokens(system.volatile ?? "");
    for (const spec of this.#host.tools.specs) {
      tokens += estimateTokens(spec.name) + estimateTokens(spec.description);
    }
    tokens += this.#host.tools.schemaTokens;
    this.#prefix = { system, tokens };
    return tokens;
  }
}
