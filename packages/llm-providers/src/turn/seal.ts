import type { Block, BlockHead, Native } from "@signalbox/agent-core";
import { parseArguments } from "./arguments.ts";
import type { CodeFence } from "./code-fence.ts";

export interface OpenBlock {
  readonly head: BlockHead;
  text: string;
  /** The first half of a surrogate pair whose second half has not arrived. */
  half: string;
  /** Removes a code fence around the text. */
  readonly fence?: CodeFence | undefined;
}

const INCOMPLETE = { args: undefined, argsError: "The answer ended before the arguments were complete." };

/**
 * Returns the finished block.
 *
 * @param complete false if the answer broke off within the block
 */
export function seal(open: OpenBlock, native: Native | undefined, complete: boolean): Block {
  const { head, text } = open;
  const extra = native === undefined ? undefined : { native };
  switch (head.type) {
    case "text":
    case "refusal":
    case "citation":
      return { type: head.type, text, ...extra };
    case "thinking":
      return text === "" && native !== undefined
        ? { type: "thinking", text, redacted: true, native }
        : { type: "thinking", text, ...extra };
    case "toolCall": {
      const parsed = parseArguments(text);
      // A call that was cut off before its arguments is not a call without arguments.
      const isTorn = !complete && (parsed.args === undefined || text.trim() === "");
      return { ...head, argsText: text, ...(isTorn ? INCOMPLETE : parsed), ...extra };
    }
    default:
      throw new TypeError(`A ${head.type} block arrives whole`);
  }
}
