import type { ToolCallBlock } from "../content.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { TokenCount } from "../conversation/token-count.ts";
import { AgentError, reasonOf } from "../errors.ts";
import type { AgentEvent, EmitEvent, MessageOrigin } from "../events.ts";
import type { OnStep, Step } from "../hooks.ts";
import type { AgentMessage, AssistantMessage } from "../messages.ts";

/** The one door through which a run's steps are kept, its messages become part of the history, and events go out. */
export class RunLog {
  /** The model turn that is going on; 1 is the first. */
  turn = 0;
  readonly emit: EmitEvent;
  readonly #conversation: Conversation;
  readonly #tokens: TokenCount;
  readonly #onStep: OnStep | undefined;
  readonly #added: AgentMessage[] = [];
  /** Messages that were taken from the host's queues and are not part of the history yet. */
  readonly #taken = new Set<AgentMessage>();

  constructor(conversation: Conversation, tokens: TokenCount, emit: EmitEvent, onStep: OnStep | undefined) {
    this.#conversation = conversation;
    this.#tokens = tokens;
    this.emit = emit;
    this.#onStep = onStep;
  }

  /** Every message of the run, in order. */
  get added(): readonly AgentMessage[] {
    return this.#added;
  }

  /** Messages of the host's queues that the run took and could not keep. */
  get unkept(): readonly AgentMessage[] {
    return [...this.#taken];
  }

  /** Remembers what was taken from a queue of the host until it is part of the history. */
  take(messages: readonly AgentMessage[]): readonly AgentMessage[] {
    for (const message of messages) this.#taken.add(message);
    return messages;
  }

  /** @throws AgentError `step_failed` */
  async keep(step: Step): Promise<void> {
    try {
      await this.#onStep?.(step);
    } catch (error) {
      const what = `A step (${step.kind}) could not be kept: ${reasonOf(error)}`;
      throw new AgentError("step_failed", what, { cause: error });
    }
  }

  /** Goes through a part of the run; each step it gives is kept and each event told before it goes on. */
  async follow<T>(part: AsyncGenerator<Step | AgentEvent, T>): Promise<T> {
    for (;;) {
      const { done, value } = await part.next();
      if (done === true) return value;
      await ("kind" in value ? this.keep(value) : this.emit(value));
    }
  }

  /** Keeps what is said to the model: durable first, then part of the history and told. */
  async commitInput(
    messages: readonly AgentMessage[],
    origin: Exclude<MessageOrigin, "model" | "tool">,
  ): Promise<void> {
    if (messages.length === 0) return;
    await this.keep({ kind: "input", turn: this.turn, messages, pendingToolCalls: [], origin });
    await this.add(messages, origin);
  }

  /** Keeps a model's turn together with the calls it asks for, before any of them runs. */
  async commitTurn(message: AssistantMessage, calls: readonly ToolCallBlock[]): Promise<void> {
    const messages = [message];
    await this.keep({ kind: "assistant", turn: this.turn, messages, pendingToolCalls: calls, message });
    await this.add(messages, "model");
  }

  /** Adds messages whose steps are kept. */
  async add(messages: readonly AgentMessage[], origin: MessageOrigin): Promise<void> {
    for (const message of messages) {
      this.#conversation.append(message);
      this.#tokens.add(message);
      this.#added.push(message);
      this.#taken.delete(message);
      await this.emit({ type: "message", message, origin });
    }
  }
}
