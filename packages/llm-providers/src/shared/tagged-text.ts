import type { JsonObject } from "@signalbox/agent-core";
import type { TurnWriter } from "../turn/record.ts";
import { Speech } from "./speech.ts";
import type { TaggedPiece, ThinkTags } from "./think-tags.ts";

/** Writes a text that may begin with tagged reasoning. */
export class TaggedText {
  readonly #tags: ThinkTags;
  readonly #speech: Speech;

  /** @param textData returns the data that the vendor requires back with the text. Called when a text block ends. */
  constructor(turn: TurnWriter, tags: ThinkTags, textData: () => JsonObject | undefined = () => undefined) {
    this.#tags = tags;
    this.#speech = new Speech(turn, (kind) => (kind === "text" ? textData() : undefined));
  }

  push(text: string): void {
    this.#write(this.#tags.push(text));
  }

  end(complete: boolean): void {
    this.#write(this.#tags.end(complete));
    this.#speech.end();
  }

  #write(pieces: readonly TaggedPiece[]): void {
    for (const piece of pieces) {
      if ("became" in piece) this.#speech.endAs(piece.became);
      else this.#speech.say(piece.kind, piece.text);
    }
  }
}
