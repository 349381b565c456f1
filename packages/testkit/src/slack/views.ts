import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, objectsOf, ok, refuse, textOf } from "./reply.ts";

/** An open form. */
export interface SlackView {
  readonly id: string;
  /** The form as the app sent it. */
  readonly view: Raw;
}

/** Sources: Slack's pages on modal views, on the input block, and on triggers, which expire after three seconds. */
const triggerMs = 3_000;
const limits = {
  title: 24,
  metadata: 3_000,
  callbackId: 255,
  blocks: 100,
  label: 2_000,
  text: 3_000,
} as const;

/** The app's forms, and the triggers, each of which can open one. */
export class Views {
  readonly all: SlackView[] = [];
  readonly #now: () => number;
  readonly #triggers = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a trigger. Slack sends one with every click and command. */
  handOut(trigger: string): void {
    if (!this.#triggers.has(trigger)) this.#triggers.set(trigger, this.#now());
  }

  open(args: Raw): ApiReply {
    const trigger = textOf(args, "trigger_id") ?? "";
    const givenAt = this.#triggers.get(trigger);
    if (givenAt === undefined) return refuse("invalid_trigger_id");
    if (givenAt === Number.NEGATIVE_INFINITY) return refuse("exchanged_trigger_id");
    if (this.#now() - givenAt > triggerMs) return refuse("expired_trigger_id");
    const { view } = args;
    if (!isRaw(view) || !isSound(view)) return refuse("invalid_arguments");
    this.#triggers.set(trigger, Number.NEGATIVE_INFINITY);
    const opened = { id: `V${this.all.length + 1}`, view };
    this.all.push(opened);
    return ok({ view: { ...view, id: opened.id } });
  }
}

function isSound(view: Raw): boolean {
  const blocks = objectsOf(view["blocks"]);
  const hasInput = blocks.some(({ type }) => type === "input");
  return (
    view["type"] === "modal" &&
    isPlain(view["title"], limits.title) &&
    (view["submit"] === undefined ? !hasInput : isPlain(view["submit"], limits.title)) &&
    (textOf(view, "private_metadata") ?? "").length <= limits.metadata &&
    (textOf(view, "callback_id") ?? "").length <= limits.callbackId &&
    blocks.length > 0 &&
    blocks.length <= limits.blocks &&
    blocks.every(isSoundBlock)
  );
}

function isSoundBlock(block: Raw): boolean {
  const { type, text, label, element } = block;
  if (type === "section") return isRaw(text) && (textOf(text, "text") ?? "").length <= limits.text;
  if (type !== "input" || !isRaw(element)) return false;
  const longest = element["max_length"];
  return (
    isPlain(label, limits.label) &&
    element["type"] === "plain_text_input" &&
    textOf(element, "action_id") !== undefined &&
    (longest === undefined || (typeof longest === "number" && longest >= 1 && longest <= limits.text))
  );
}

function isPlain(value: unknown, longest: number): boolean {
  const text = isRaw(value) && value["type"] === "plain_text" ? textOf(value, "text") : undefined;
  return text !== undefined && text !== "" && text.length <= longest;
}
