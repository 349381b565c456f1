import { compact } from "../context/compact.ts";
import { findCutPoint } from "../context/cut-point.ts";
import { pruneToolResults } from "../context/prune.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";
import type { SystemPrompt } from "../model.ts";
import { estimateTokens } from "../tokens.ts";
import type { Part } from "./part.ts";
import type { RunState } from "./run-state.ts";

/**
 * Maximum share of the window that a request may fill. Above it, old tool results are pruned, and the conversation is
 * compacted if needed.
 */
const FULL_SHARE = 0.6;
/** Approximate share of the window to keep verbatim during compaction. */
const KEEP_SHARE = 0.25;
/** Share of the window by which a conversation that is still long must grow before the next compaction. */
const AGAIN_SHARE = 0.1;

type WindowSetting = Pick<
  RunState,
  "budget" | "config" | "conversation" | "now" | "signal" | "tokens" | "tools" | "turn" | "view"
>;

/**
 * Keeps a conversation within the model's window. First shortens old tool results, then removes them. Summarizes older
 * messages only if that is not enough.
 */
export class Window {
  readonly #run: WindowSetting;
  /** Token count up to which another compaction in this run would gain nothing. */
  #compactAbove = 0;

  constructor(run: WindowSetting) {
    this.#run = run;
  }

  /** Prunes and compacts as needed before a model call. */
  async *makeRoom(system: SystemPrompt): Part<void> {
    const { config, tokens } = this.#run;
    const { contextWindow } = config.model;
    const prefix = this.#prefixTokens(system);
    const full = contextWindow * FULL_SHARE;
    if (tokens.total(prefix) <= full) return;
    yield* this.#prune(prefix, full);
    const length = tokens.total(prefix);
    if (length <= Math.max(full, this.#compactAbove)) return;
    yield* this.#compact("threshold", length);
    this.#compactAbove = tokens.total(prefix) + contextWindow * AGAIN_SHARE;
  }

  /**
   * Shortens the request after a vendor rejected it as too long. A fallback model may have a smaller window. Returns
   * `false` if nothing became shorter.
   */
  async *afterOverflow(system: SystemPrompt, refusedBy: number = Number.POSITIVE_INFINITY): Part<boolean> {
    const { config, tokens } = this.#run;
    const contextWindow = Math.min(config.model.contextWindow, refusedBy);
    const prefix = this.#prefixTokens(system);
    const before = tokens.total(prefix);
    const pruned = yield* this.#prune(prefix, 0, 1);
    // If the estimate was too low, keep less, in proportion.
    const factor = Math.min(1, before / contextWindow);
    const length = tokens.total(prefix);
    const compacted = yield* this.#compact("overflow", length, contextWindow, factor);
    return pruned || compacted;
  }

  /** Compacts outside a run. Returns `false` if there was nothing to gain. */
  compact(): Part<boolean> {
    return this.#compact("manual", this.#run.tokens.total(0));
  }

  /** Shortens old results until the request fits into `target` tokens. Returns `false` if none became shorter. */
  async *#prune(prefix: number, target: number, protectTurns?: number): Part<boolean> {
    const { view, tokens } = this.#run;
    const counts = { soft: 0, hard: 0 };
    let tokensSaved = 0;
    for (const level of ["soft", "hard"] as const) {
      if (tokens.total(prefix) <= target) break;
      const pruned = pruneToolResults(view.messages, level, protectTurns);
      view.prune(pruned.changes);
      tokens.subtract(pruned.tokensSaved);
      counts[level] = pruned.changes.size;
      tokensSaved += pruned.tokensSaved;
    }
    if (tokensSaved === 0) return false;
    yield { type: "prune", ...counts, tokensSaved };
    return true;
  }

  /** Summarizes the older part. Returns `false` if there was nothing to gain. */
  async *#compact(
    reason: "threshold" | "overflow" | "manual",
    length: number,
    contextWindow: number = this.#run.config.model.contextWindow,
    factor: number = 1,
  ): Part<boolean> {
    const { config, conversation, view, tokens, budget, signal, turn, now } = this.#run;
    const { stream, context, beforeCompaction } = config;
    const model = { ...config.model, contextWindow };
    const policy = context?.compaction ?? {};
    if (policy === false) return false;
    const keepTokens = Math.floor(contextWindow * KEEP_SHARE * factor);
    const getTokens = (message: AgentMessage): number => estimateTokens(view.getSent(message));
    const history = { messages: conversation.messages, keepTokens, getTokens };
    if (findCutPoint(history.messages, keepTokens, getTokens) === 0) return false;
    yield { type: "compaction.start", reason, tokens: length };
    const begun = now();
    const onTurn = (answer: AssistantMessage): void => budget.addRequest(answer);
    const how = { model, stream, policy, beforeCompaction, signal, now, onTurn };
    const compaction = await compact({ ...history, ...how });
    if (compaction === undefined) return false;
    const { summary, replaced, source } = compaction;
    if (source === "metadata") budget.addSilence(now() - begun);
    yield { kind: "compaction", turn, messages: [summary], pendingToolCalls: [], summary, replaced };
    tokens.restart(view.messages);
    yield { type: "compaction.end", summary, source, tokens: tokens.total(0) };
    return true;
  }

  /** Estimates the tokens before the messages. */
  #prefixTokens({ stable, volatile = "" }: SystemPrompt): number {
    return estimateTokens(stable) + estimateTokens(volatile) + this.#run.tools.tokens;
  }
}
