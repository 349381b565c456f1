import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import { numberAt, objectAt, textAt } from "../shared/json.ts";
import { parseArguments } from "../turn/arguments.ts";
import type { TurnWriter } from "../turn/record.ts";

interface Call {
  id: string | undefined;
  name: string;
  /** The block, once the name is known. */
  block: number | undefined;
  /** All of its arguments' text; before its name is known none of it has been passed on. */
  args: string;
  extra: JsonObject | undefined;
}

/** The tool calls of a chat completion, put together from pieces that servers number and name in ways of their own. */
export class ChatCalls {
  readonly #turn: TurnWriter;
  readonly #onNew: () => void;
  readonly #calls = new Map<number, Call>();
  /** The call that each number of the server stands for at present. */
  readonly #numbered = new Map<number, number>();

  /** @param onNew is called before a call begins: what was said before it is over */
  constructor(turn: TurnWriter, onNew: () => void) {
    this.#turn = turn;
    this.#onNew = onNew;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Whether there are some, each with a name and arguments that can be read. */
  areWhole(): boolean {
    const isWhole = ({ name, args }: Call) => name !== "" && parseArguments(args).args !== undefined;
    return this.count > 0 && [...this.#calls.values()].every(isWhole);
  }

  /** Takes a piece, the one at `at` in its chunk. */
  add(piece: JsonObject, at: number): void {
    const fn = objectAt(piece, "function");
    const given = textAt(piece, "id");
    // Mistral's later pieces of a call carry this word for an id.
    const id = given === "null" ? undefined : given;
    const name = textAt(fn, "name");
    const index = this.#indexOf(piece, at, id, name);
    const call = this.#calls.get(index) ?? this.#begin(index);
    call.id ??= id;
    if (isJsonObject(piece.extra_content)) call.extra = piece.extra_content;
    const args: unknown = fn.arguments;
    const text = typeof args === "string" ? args : isJsonObject(args) ? JSON.stringify(args) : "";
    call.args += text;
    if (call.block !== undefined) {
      this.#turn.append(call.block, text);
      return;
    }
    call.name += name ?? "";
    if (call.name !== "") this.#open(index, call);
  }

  /** Calls without a name are calls too; the model is told of them. */
  openAll(): void {
    for (const [index, call] of this.#calls) if (call.block === undefined) this.#open(index, call);
  }

  closeAll(): void {
    for (const { block, extra } of this.#calls.values())
      if (block !== undefined) this.#turn.close(block, extra && { extra_content: extra });
  }

  /** Where a piece belongs: to the call of its number, else to the one with its id, or to the last one. */
  #indexOf(piece: JsonObject, at: number, id: string | undefined, name: string | undefined): number {
    const number = numberAt(piece, "index");
    const index =
      number === undefined
        ? (this.#withId(id) ?? Math.max(at, this.#calls.size - 1))
        : (this.#numbered.get(number) ?? number);
    const before = this.#calls.get(index)?.id;
    // Some servers number every call 0: another id with a name is another call, which what follows belongs to.
    const isAnother = before !== undefined && id !== undefined && before !== id && name !== undefined;
    const place = isAnother ? Math.max(...this.#calls.keys()) + 1 : index;
    if (number !== undefined) this.#numbered.set(number, place);
    return place;
  }

  /** The index of the call with an id, or of the next call where there is none. */
  #withId(id: string | undefined): number | undefined {
    if (id === undefined) return undefined;
    for (const [index, call] of this.#calls) if (call.id === id) return index;
    return this.#calls.size;
  }

  #begin(index: number): Call {
    this.#onNew();
    const call: Call = { id: undefined, name: "", block: undefined, args: "", extra: undefined };
    this.#calls.set(index, call);
    return call;
  }

  #open(index: number, call: Call): void {
    const id = call.id ?? this.#turn.callId(index);
    call.block = this.#turn.open({ type: "toolCall", id, name: call.name });
    this.#turn.append(call.block, call.args);
  }
}
