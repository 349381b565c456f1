import type {
  JsonObject,
  JsonValue,
  Message,
  Model,
  ModelContext,
  StreamOptions,
  ThinkingLevel,
  ToolSpec,
} from "@signalbox/agent-core";
import { adapt, lossWarnings } from "../adapt/index.ts";
import { toolNameFor } from "../adapt/names.ts";
import { clampThinking } from "../stream/thinking.ts";
import { assistantBlocks, resultBlock, userBlocks } from "./convert.ts";

/** Called with what the caller should know about the request. */
export type Warn = (code: string, message: string) => void;

/** Characters from which on a part of a body is closed. */
const PART_CHARS = 32_768;
const GO_ON = '{"type":"text","text":"(continue)"}';
const DEFAULT_MAX_TOKENS = 8_192;
const MIN_BUDGET = 1_024;

/** Tokens to think with, for models that take a budget. */
const BUDGETS: Readonly<Record<ThinkingLevel, number>> = {
  off: 0,
  minimal: MIN_BUDGET,
  low: 4_096,
  medium: 10_240,
  high: 24_576,
  max: 49_152,
};

const EFFORT: Readonly<Record<ThinkingLevel, string>> = {
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "max",
};

interface ThinkingPlan {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  readonly maxTokens: number;
  /** Whether the model will think, which rules out a forced tool and a temperature. */
  readonly on: boolean;
}

function planThinking(model: Model, options: StreamOptions, warn: Warn): ThinkingPlan {
  const { maxOutputTokens: asked, thinking: wanted = "off", toolChoice } = options;
  const maxTokens = Math.max(1, Math.min(asked ?? DEFAULT_MAX_TOKENS, model.maxOutputTokens));
  const quirks = model.quirks ?? {};
  let level = clampThinking(model, wanted);
  if (level !== wanted) warn("thinking.clamped", `Thinking "${wanted}" became "${level}" for ${model.id}.`);
  const forced = toolChoice === "required" || typeof toolChoice === "object";
  if (level !== "off" && forced && quirks.thinkingAlwaysOn !== true) {
    warn("thinking.off", "The vendor does not think when a tool is forced: thinking is off for this turn.");
    level = "off";
  }
  if (level === "off") {
    const off = quirks.thinkingOff;
    return { maxTokens, on: false, ...(typeof off === "string" ? { thinking: { type: off } } : {}) };
  }
  if (quirks.thinking === "adaptive") {
    const display = quirks.thinkingDisplay === true ? { display: "summarized" } : undefined;
    return { maxTokens, on: true, thinking: { type: "adaptive", ...display }, effort: EFFORT[level] };
  }
  // The budget counts towards max_tokens; without the caller's own limit the answer keeps its usual room.
  const room = asked === undefined ? Math.min(model.maxOutputTokens, maxTokens + BUDGETS[level]) : maxTokens;
  const budget = Math.min(BUDGETS[level], room - MIN_BUDGET);
  if (budget < MIN_BUDGET) {
    warn("thinking.off", `${room} output tokens leave no room to think.`);
    return { maxTokens, on: false };
  }
  return { maxTokens: room, on: true, thinking: { type: "enabled", budget_tokens: budget } };
}

/** JSON text of a message's blocks, joined by commas; `undefined` where nothing of it can be sent. */
function blocksText(blocks: readonly JsonObject[]): string | undefined {
  if (blocks.length === 0) return undefined;
  return blocks.map((block) => JSON.stringify(block)).join(",");
}

/** Marks the last block of a joined list as a cache breakpoint. */
function marked(blocks: string, control: string | undefined): string {
  return control === undefined ? blocks : `${blocks.slice(0, -1)},"cache_control":${control}}`;
}

/** A message serialised: its blocks joined by commas (absent where nothing can be sent), and the whole of it. */
interface Piece {
  readonly blocks: string | undefined;
  readonly turn: string;
}

/**
 * Builds request bodies as JSON text from pieces that are serialised once: a history that grows by a turn costs that
 * turn, not the history.
 */
export class RequestBuilder {
  readonly #pieces = new WeakMap<Message, Piece>();
  readonly #tools = new WeakMap<ToolSpec, string>();
  /** The newest system text, serialised and marked. */
  #system: { readonly text: string; readonly control: string | undefined; readonly json: string } | undefined;

  /** The body in parts, to be sent one after the other. */
  build(model: Model, context: ModelContext, options: StreamOptions, warn: Warn): readonly string[] {
    const plan = planThinking(model, options, warn);
    const control = this.#cacheControl(options);
    const { messages, losses } = adapt(context.messages, model);
    for (const warning of lossWarnings(losses)) warn(warning.code, warning.message);

    const fields: [string, string][] = [
      ["model", JSON.stringify(model.id)],
      ["max_tokens", String(plan.maxTokens)],
      ["stream", "true"],
    ];
    const system = this.#systemText(context, control);
    if (system !== undefined) fields.push(["system", system]);
    const tools = this.#toolsText(context, messages, control);
    if (tools !== undefined) fields.push(["tools", tools.text]);
    const unforced = plan.on || model.quirks?.forcedTools === false;
    const choice = this.#toolChoice(model, options, tools?.offered === true, unforced, warn);
    if (tools !== undefined && choice !== undefined) fields.push(["tool_choice", JSON.stringify(choice)]);
    if (plan.thinking !== undefined) fields.push(["thinking", JSON.stringify(plan.thinking)]);
    if (plan.effort !== undefined) fields.push(["output_config", JSON.stringify({ effort: plan.effort })]);
    const { temperature, stopSequences } = options;
    if (temperature !== undefined && temperature !== 1) {
      if (plan.on) warn("temperature.ignored", "A thinking model takes no temperature.");
      else if (model.quirks?.temperature === false)
        warn("temperature.ignored", `${model.id} takes no temperature.`);
      else fields.push(["temperature", String(temperature)]);
    }
    const stops = stopSequences?.filter((stop) => stop.trim() !== "");
    if (stops !== undefined && stops.length > 0) fields.push(["stop_sequences", JSON.stringify(stops)]);
    return assemble(fields, this.#turns(messages, control, model), options.extra);
  }

  #cacheControl(options: StreamOptions): string | undefined {
    if (options.cache === "none") return undefined;
    return options.cache === "long" ? '{"type":"ephemeral","ttl":"1h"}' : '{"type":"ephemeral"}';
  }

  #systemText(context: ModelContext, control: string | undefined): string | undefined {
    const { stable, volatile = "" } = context.system;
    const parts: string[] = [];
    if (stable.trim() !== "") {
      if (this.#system?.text !== stable || this.#system.control !== control) {
        const json = marked(JSON.stringify({ type: "text", text: stable }), control);
        this.#system = { text: stable, control, json };
      }
      parts.push(this.#system.json);
    }
    if (volatile.trim() !== "") parts.push(JSON.stringify({ type: "text", text: volatile }));
    return parts.length === 0 ? undefined : `[${parts.join(",")}]`;
  }

  #toolsText(
    context: ModelContext,
    messages: readonly Message[],
    control: string | undefined,
  ): { readonly text: string; readonly offered: boolean } | undefined {
    const { tools } = context;
    if (tools.length === 0) {
      // The vendor wants calls in the history to be of declared tools, also where none is offered any more.
      const names = new Set<string>();
      for (const message of messages)
        if (message.role === "assistant")
          for (const block of message.content) if (block.type === "toolCall") names.add(block.name);
      if (names.size === 0) return undefined;
      const past = [...names].map((name) => ({ name, input_schema: { type: "object" } }));
      return { text: JSON.stringify(past), offered: false };
    }
    const parts = tools.map((tool) => {
      const known = this.#tools.get(tool);
      if (known !== undefined) return known;
      const { name, description, inputSchema } = tool;
      const json = JSON.stringify({ name, description, input_schema: { ...inputSchema, type: "object" } });
      this.#tools.set(tool, json);
      return json;
    });
    return { text: `[${marked(parts.join(","), control)}]`, offered: true };
  }

  #toolChoice(
    model: Model,
    options: StreamOptions,
    offered: boolean,
    unforced: boolean,
    warn: Warn,
  ): JsonObject | undefined {
    const { toolChoice } = options;
    if (!offered) return { type: "none" };
    if (toolChoice === undefined || toolChoice === "auto") return undefined;
    if (toolChoice === "none") return { type: "none" };
    if (unforced) {
      warn("tool_choice.ignored", "This model cannot be forced to call a tool.");
      return undefined;
    }
    return toolChoice === "required"
      ? { type: "any" }
      : { type: "tool", name: toolNameFor(model.api, toolChoice.name) };
  }

  #piece(message: Message): Piece {
    const known = this.#pieces.get(message);
    if (known !== undefined) return known;
    const blocks =
      message.role === "user"
        ? blocksText(userBlocks(message))
        : message.role === "assistant"
          ? blocksText(assistantBlocks(message))
          : JSON.stringify(resultBlock(message));
    const turn =
      message.role === "assistant" ? `{"role":"assistant","content":[${blocks}]}` : userTurn(blocks ?? "");
    const piece = { blocks, turn };
    this.#pieces.set(message, piece);
    return piece;
  }

  #turns(messages: readonly Message[], control: string | undefined, model: Model): string[] {
    const turns: string[] = [];
    // The last two turns of people: their blocks, and where they stand.
    let [at, blocksAt, atBefore, blocksBefore] = [-1, "", -1, ""];
    const user = (blocks: string, text: string): void => {
      [atBefore, blocksBefore] = [at, blocksAt];
      [at, blocksAt] = [turns.length, blocks];
      turns.push(text);
    };
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message === undefined) continue;
      const { blocks, turn } = this.#piece(message);
      if (blocks === undefined) continue;
      if (message.role === "assistant") {
        turns.push(turn);
        continue;
      }
      let all = blocks;
      if (message.role === "toolResult") {
        // All results of one turn go into one message.
        for (let next = messages[i + 1]; next?.role === "toolResult"; next = messages[i + 1]) {
          all = `${all},${this.#piece(next).blocks}`;
          i++;
        }
      }
      user(all, all === blocks ? turn : userTurn(all));
    }
    const last = messages.at(-1);
    if (last?.role === "assistant" && last.stopReason !== "pause" && model.quirks?.prefill === false)
      user(GO_ON, userTurn(GO_ON));
    // Two breakpoints: what was cached last time is found again, and this turn's end is cached for the next.
    if (control !== undefined) {
      if (atBefore >= 0) turns[atBefore] = userTurn(marked(blocksBefore, control));
      if (at >= 0) turns[at] = userTurn(marked(blocksAt, control));
    }
    return turns;
  }
}

function userTurn(blocks: string): string {
  return `{"role":"user","content":[${blocks}]}`;
}

/**
 * Parts of some length by one join each. In one piece, a long conversation would be a string that V8 does not let go
 * before its next major collection; every further concatenation would copy it once more.
 */
function assemble(
  fields: readonly [string, string][],
  turns: string[],
  extra: Readonly<Record<string, JsonValue>> | undefined,
): readonly string[] {
  const all = new Map(fields);
  for (const [name, value] of Object.entries(extra ?? {})) all.set(name, JSON.stringify(value));
  const given = all.get("messages");
  all.delete("messages");
  let head = "{";
  for (const [name, json] of all) head += `${JSON.stringify(name)}:${json},`;
  if (given !== undefined) return [`${head}"messages":${given}}`];
  turns[0] = `${head}"messages":[${turns[0] ?? ""}`;
  turns.push(`${turns.pop() ?? ""}]}`);
  const parts: string[] = [];
  let chars = 0;
  let from = 0;
  for (let i = 0; i < turns.length - 1; i++) {
    chars += turns[i]?.length ?? 0;
    if (chars < PART_CHARS) continue;
    // The empty one makes the join end with a comma.
    parts.push([...turns.slice(from, i + 1), ""].join(","));
    from = i + 1;
    chars = 0;
  }
  parts.push(turns.slice(from).join(","));
  return parts;
}
