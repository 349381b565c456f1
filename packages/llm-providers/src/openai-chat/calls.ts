import { isJsonObject, type JsonObject } from "@signalbox/agent-core";
import { numberAt, parseObject, textAt } from "../shared/json.ts";
import { parseArguments, withoutPlaceholder } from "../turn/arguments.ts";
import type { TurnWriter } from "../turn/record.ts";

interface Call {
  id: string | undefined;
  name: string;
  /** The index of the block. Set once the name is known. */
  block: number | undefined;
  /** The argument text so far. It is written to the block once the name is known. */
  args: string;
  /** A name that arrived after complete arguments. It belongs to another call if arguments follow. */
  nextName: string | undefined;
  extra: JsonObject | undefined;
}

/** Assembles the tool calls of a chat completion. Servers differ in how they number and name the deltas of calls. */
export class ChatCalls {
  readonly #turn: TurnWriter;
  readonly #onBegin: () => void;
  readonly #isTool: (name: string) => boolean;
  readonly #calls = new Map<number, Call>();
  /** The current key in `#calls` for each index from the server. */
  readonly #keys = new Map<number, number>();

  /**
   * @param onBegin called before each new call, to end the text before it
   * @param isTool returns true for the name of an offered tool
   */
  constructor(turn: TurnWriter, onBegin: () => void, isTool: (name: string) => boolean = () => true) {
    this.#turn = turn;
    this.#onBegin = onBegin;
    this.#isTool = isTool;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Returns true if there are calls and all of them have a name and valid arguments. */
  areComplete(): boolean {
    const isComplete = ({ name, args }: Call) => name !== "" && parseArguments(args).args !== undefined;
    return this.count > 0 && [...this.#calls.values()].every(isComplete);
  }

  /**
   * Adds a delta of a call.
   *
   * @param at its position in the chunk
   */
  add(piece: JsonObject, at: number): void {
    // Some servers put the name and the arguments directly into the call.
    const fn = isJsonObject(piece.function) ? piece.function : piece;
    const args: unknown = fn.arguments ?? fn.parameters;
    const text = typeof args === "string" ? args : isJsonObject(args) ? JSON.stringify(args) : "";
    const givenId = textAt(piece, "id");
    // Later deltas of a call from Mistral have the id "null".
    const id = givenId === "null" ? undefined : givenId;
    const name = textAt(fn, "name");
    const number = indexOf(piece);
    const key =
      number === undefined
        ? (this.#keyOfId(id) ?? Math.max(at, this.#calls.size - 1))
        : (this.#keys.get(number) ?? this.#keyOfRest({ id, name, text }) ?? number);
    const before = this.#calls.get(key);
    if (before !== undefined && name !== undefined && this.#isNamePart(before, { id, name, text })) {
      before.name = name.startsWith(before.name) ? name : before.name + name;
      this.#append(key, { id, name: undefined, text }, piece.extra_content);
      return;
    }
    if (before !== undefined && isContinued(before, { id, name, text })) {
      this.#append(key, { id, name, text }, piece.extra_content);
      return;
    }
    if (before !== undefined && isComplete(before) && this.#isAside(before, { id, name, text })) return;
    const isAnother = before !== undefined && startsAnother(before, { id, name, text });
    const place = isAnother ? Math.max(...this.#calls.keys()) + 1 : key;
    if (number !== undefined) this.#keys.set(number, place);
    const another = { id, name: name ?? (isAnother ? (before.nextName ?? before.name) : undefined), text };
    this.#append(place, another, piece.extra_content);
  }

  /** Adds a call that the model wrote in its text. */
  addWhole(name: string, args: string): void {
    const place = Math.max(-1, ...this.#calls.keys()) + 1;
    this.#append(place, { id: undefined, name, text: args }, undefined);
  }

  /** Handles a delta that follows a complete call and adds nothing to it. */
  #isAside(before: Call, { id, name, text }: Piece): boolean {
    if (id !== undefined && id !== before.id) return false;
    if (text === "" && name !== undefined && before.block !== undefined) {
      before.nextName = name;
      return true;
    }
    // Some servers repeat the entire call at the end.
    return text.trim() === before.args.trim() && (name ?? before.name) === before.name;
  }

  #append(place: number, { id, name, text }: Piece, extra: unknown): void {
    const call = this.#calls.get(place) ?? this.#begin(place);
    call.id ??= id;
    if (isJsonObject(extra)) call.extra = extra;
    call.args += text;
    if (call.block !== undefined) {
      this.#turn.append(call.block, text);
      return;
    }
    call.name += name ?? "";
    // The name of an unknown tool may continue until its arguments begin.
    if (call.name !== "" && (call.args !== "" || this.#isTool(call.name))) this.#open(place, call);
  }

  /** Returns true if a delta continues a name that is not the name of a tool yet. */
  #isNamePart(before: Call, { id }: Piece): boolean {
    const isSame = id === undefined || before.id === undefined || id === before.id;
    return isSame && before.block === undefined && before.name !== "" && !this.#isTool(before.name);
  }

  /** Returns the key of the last call if a delta with a new index can only be the rest of its arguments. */
  #keyOfRest({ id, name, text }: Piece): number | undefined {
    const last = [...this.#calls].at(-1);
    if (id !== undefined || name !== undefined || text === "" || last === undefined) return undefined;
    const [key, call] = last;
    return call.args !== "" && !isComplete(call) ? key : undefined;
  }

  /** Opens the blocks of calls that never got a name. The agent reports them to the model. */
  openAll(): void {
    for (const [place, call] of this.#calls) if (call.block === undefined) this.#open(place, call);
  }

  closeAll(): void {
    for (const { block, extra } of this.#calls.values())
      if (block !== undefined) this.#turn.close(block, extra && { extra_content: extra });
  }

  /** Returns the key of the call with this id, or a new key. */
  #keyOfId(id: string | undefined): number | undefined {
    if (id === undefined) return undefined;
    for (const [key, call] of this.#calls) if (call.id === id) return key;
    return this.#calls.size;
  }

  #begin(place: number): Call {
    for (const [key, call] of this.#calls)
      if (call.block === undefined && call.name !== "") this.#open(key, call);
    this.#onBegin();
    const call: Call = {
      id: undefined,
      name: "",
      block: undefined,
      args: "",
      nextName: undefined,
      extra: undefined,
    };
    this.#calls.set(place, call);
    return call;
  }

  #open(place: number, call: Call): void {
    const id = call.id ?? this.#turn.callId(place);
    call.block = this.#turn.open({ type: "toolCall", id, name: call.name });
    this.#turn.append(call.block, call.args);
  }
}

interface Piece {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
}

/**
 * Returns true if a delta contains the real arguments of a call whose arguments were an empty object so far. Proxies in
 * front of Anthropic's API send its empty input first.
 */
function isContinued(before: Call, { id, name, text }: Piece): boolean {
  const isSame = id === undefined ? name === undefined : id === before.id;
  return before.args.trim() === "{}" && isSame && text.trimStart().startsWith("{") && text.trim() !== "{}";
}

/** Some servers send the index as text. */
function indexOf(piece: JsonObject): number | undefined {
  const text = textAt(piece, "index");
  return numberAt(piece, "index") ?? (text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined);
}

function isComplete({ args }: Call): boolean {
  return args.trimEnd().endsWith("}") && parseObject(withoutPlaceholder(args)) !== undefined;
}

/**
 * Returns true if a delta begins another call although it has the same index as `before`. Some servers use index 0 for
 * every call. A new id with a name begins another call, and so do another name and further arguments after complete
 * ones.
 */
function startsAnother(before: Call, { id, name, text }: Piece): boolean {
  const hasOtherId = before.id !== undefined && id !== undefined && before.id !== id;
  if (hasOtherId && name !== undefined) return true;
  const isSameId = before.id !== undefined && before.id === id;
  if (!isSameId && name !== undefined && before.name !== "" && name !== before.name) return true;
  const mayStart = text.trimStart().startsWith("{") || (name ?? before.nextName) !== undefined;
  return mayStart && text.trim() !== "" && isComplete(before);
}
