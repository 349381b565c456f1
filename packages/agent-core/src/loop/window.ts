import type { AgentLoopConfig } from "../config.ts";
import { compact } from "../context/compact.ts";
import { cutPoint } from "../context/cut-point.ts";
import { pruneToolResults } from "../context/prune.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { RequestView } from "../conversation/request-view.ts";
import type { TokenCount } from "../conversation/token-count.ts";
import type { AgentEvent } from "../events.ts";
import type { Step } from "../hooks.ts";
import type { AgentMessage } from "../messages.ts";
import type { SystemPrompt } from "../model.ts";
import { estimateTokens } from "../tokens.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { Budget } from "./budget.ts";

const PRUNE_AT = 0.7;
const COMPACT_AT = 0.6;
const KEEP_SHARE = 0.25;
const PROTECTED_TURNS = 3;
/** What has to be added before a conversation that stayed long is compacted again. */
const AGAIN_SHARE = 0.1;

/** The conversation that is to fit, and what is known of its length. */
export interface WindowSetting {
  readonly config: AgentLoopConfig;
  readonly conversation: Conversation;
  readonly view: RequestView;
  readonly tokens: TokenCount;
  readonly tools: ToolSet;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** Steps to keep and events to tell, then how many messages at the start gave way to one summary. */
type MakingRoom = AsyncGenerator<Step | AgentEvent, number>;

/**
 * Keeps a conversation inside the model's window, gently first: old results shortened, then removed, then the older
 * part summarised.
 */
export class Window {
  readonly #setting: WindowSetting;
  /** Below this many tokens another compaction in this run would be in vain. */
  #compactAbove = 0;

  constructor(setting: WindowSetting) {
    this.#setting = setting;
  }

  /** Before a model call. */
  async *makeRoom(system: SystemPrompt, turn: number): MakingRoom {
    const { config, tokens } = this.#setting;
    const { context = {}, model } = config;
    const prefix = this.#prefixTokens(system);
    const pruneAbove = model.contextWindow * (context.pruneAt ?? PRUNE_AT);
    const compactAbove = model.contextWindow * (context.compactAt ?? COMPACT_AT);
    if (tokens.total(prefix) > pruneAbove) {
      const target = Math.min(pruneAbove, compactAbove);
      yield* this.#prune(prefix, target, context.protectTurns ?? PROTECTED_TURNS);
    }
    const length = tokens.total(prefix);
    if (length <= Math.max(compactAbove, this.#compactAbove)) return 0;
    const replaced = yield* this.#compact("threshold", turn, length, 1);
    this.#compactAbove = tokens.total(prefix) + model.contextWindow * AGAIN_SHARE;
    return replaced;
  }

  /** After the vendor refused a request as too long. `undefined` when it cannot be made shorter. */
  async *afterOverflow(
    system: SystemPrompt,
    turn: number,
  ): AsyncGenerator<Step | AgentEvent, number | undefined> {
    const { config, tokens } = this.#setting;
    const prefix = this.#prefixTokens(system);
    const before = tokens.total(prefix);
    const pruned = yield* this.#prune(prefix, 0, 1);
    // The guess was too low, so what is kept by that measure has to be less by as much.
    const factor = Math.min(1, before / config.model.contextWindow);
    const replaced = yield* this.#compact("overflow", turn, tokens.total(prefix), factor);
    return replaced > 0 || pruned ? replaced : undefined;
  }

  /** On request of the host. */
  compactNow(): MakingRoom {
    return this.#compact("manual", 0, this.#setting.tokens.total(0), 1);
  }

  /** Gives whether anything became shorter. */
  async *#prune(
    prefix: number,
    target: number,
    protectTurns: number,
  ): AsyncGenerator<Step | AgentEvent, boolean> {
    const { config, conversation, view, tokens } = this.#setting;
    const softChars = config.context?.softChars;
    const counts = { soft: 0, hard: 0 };
    let tokensSaved = 0;
    for (const level of ["soft", "hard"] as const) {
      if (tokens.total(prefix) <= target) break;
      const sent = conversation.messages.map((message) => view.prunedAs(message));
      const options = { level, protectTurns, ...(softChars === undefined ? {} : { softChars }) };
      const pruned = pruneToolResults(sent, options);
      view.prune(pruned.changes);
      tokens.subtract(pruned.tokensSaved);
      counts[level] = pruned.changes.size;
      tokensSaved += pruned.tokensSaved;
    }
    if (tokensSaved === 0) return false;
    yield { type: "prune", ...counts, tokensSaved };
    return true;
  }

  async *#compact(
    reason: "threshold" | "overflow" | "manual",
    turn: number,
    length: number,
    factor: number,
  ): MakingRoom {
    const { config, conversation, view, tokens, budget, signal, now } = this.#setting;
    const policy = config.context?.compaction ?? {};
    if (policy === false) return 0;
    const keepTokens = Math.floor(config.model.contextWindow * (policy.keepShare ?? KEEP_SHARE) * factor);
    const tokensOf = (message: AgentMessage): number => estimateTokens(view.prunedAs(message));
    if (cutPoint(conversation.messages, keepTokens, tokensOf) === 0) return 0;
    yield { type: "compaction.start", reason, tokens: length };
    const begun = now();
    const compaction = await compact({
      messages: conversation.messages,
      keepTokens,
      model: config.model,
      stream: config.stream,
      policy,
      signal,
      tokensOf,
      now,
      onTurn: (used) => budget.addRequest(used),
      ...(config.beforeCompaction === undefined ? {} : { beforeCompaction: config.beforeCompaction }),
    });
    if (compaction === undefined) return 0;
    const { summary, replaced, source } = compaction;
    if (source === "metadata") budget.addSilence(now() - begun);
    yield { kind: "compaction", turn, messages: [summary], pendingToolCalls: [], summary, replaced };
    conversation.compact(summary, replaced);
    tokens.restart(view.messages);
    yield { type: "compaction.end", summary, source, tokens: tokens.total(0) };
    return replaced;
  }

  /** What precedes the messages in a request, by guess. */
  #prefixTokens(system: SystemPrompt): number {
    return estimateTokens(system.stable) + estimateTokens(system.volatile ?? "") + this.#setting.tools.tokens;
  }
}
