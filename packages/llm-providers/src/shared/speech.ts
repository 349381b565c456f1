import type { JsonValue } from "@signalbox/agent-core";
import type { TurnWriter } from "../turn/record.ts";

type Spoken = "text" | "thinking" | "refusal";

/** What a model says where it says one thing at a time: a block lasts until another kind begins, or is ended. */
export class Speech {
  readonly #turn: TurnWriter;
  readonly #dataOf: (spoken: Spoken) => JsonValue | undefined;
  #open: { readonly spoken: Spoken; readonly index: number } | undefined;

  /** @param dataOf what the vendor wants to see again with a block that another one follows. */
  constructor(turn: TurnWriter, dataOf: (spoken: Spoken) => JsonValue | undefined = () => undefined) {
    this.#turn = turn;
    this.#dataOf = dataOf;
  }

  get open(): Spoken | undefined {
    return this.#open?.spoken;
  }

  /** Goes on with a block of a kind, or begins one. */
  say(spoken: Spoken, text: string): void {
    if (this.#open?.spoken !== spoken) {
      this.end();
      this.#open = { spoken, index: this.#turn.open({ type: spoken }) };
    }
    this.#turn.append(this.#open.index, text);
  }

  end(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#turn.close(open.index, this.#dataOf(open.spoken));
  }
}
