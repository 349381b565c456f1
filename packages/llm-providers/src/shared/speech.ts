import type { JsonValue } from "@signalbox/agent-core";
import type { TurnWriter } from "../turn/record.ts";

type SpeechKind = "text" | "thinking" | "refusal";

/**
 * Writes the blocks of a model that produces text and thinking in sequence. A block ends when one of another kind
 * begins.
 */
export class Speech {
  readonly #turn: TurnWriter;
  readonly #nativeData: (kind: SpeechKind) => JsonValue | undefined;
  #open: { readonly kind: SpeechKind; readonly index: number } | undefined;

  /** @param nativeData returns the data that the vendor requires back with a finished block, if any */
  constructor(turn: TurnWriter, nativeData: (kind: SpeechKind) => JsonValue | undefined = () => undefined) {
    this.#turn = turn;
    this.#nativeData = nativeData;
  }

  /** The kind of the open block. */
  get open(): SpeechKind | undefined {
    return this.#open?.kind;
  }

  /** Appends to the open block if it is of this kind. Otherwise opens a new one. */
  say(kind: SpeechKind, text: string): void {
    if (this.#open?.kind !== kind) {
      this.end();
      this.#open = { kind, index: this.#turn.open({ type: kind }) };
    }
    this.#turn.append(this.#open.index, text);
  }

  /** Closes the open block with the given kind, which may differ from the kind it was opened with. */
  endAs(kind: "text" | "thinking"): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#turn.closeAs(open.index, kind, this.#nativeData(kind));
  }

  end(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#turn.close(open.index, this.#nativeData(open.kind));
  }
}
