import type { CompileContext, Token, Extension as TreeExtension } from "mdast-util-from-markdown";

/**
 * An extension of `mdast-util-from-markdown` for the check boxes of task lists. Add it after GFM's own extension. The
 * parser also reports a box in a paragraph directly below an empty list item. That box remains text.
 */
export function checkBoxesFromMarkdown(): TreeExtension {
  return {
    exit: {
      taskListCheck: exitBox,
      taskListCheckValueChecked() {
        mark(this.stack.at(-2), true);
      },
      taskListCheckValueUnchecked() {
        mark(this.stack.at(-2), false);
      },
    },
  };
}

function mark(item: CompileContext["stack"][number] | undefined, checked: boolean): void {
  if (item?.type === "listItem") item.checked = checked;
}

function exitBox(this: CompileContext, token: Token): void {
  if (this.stack.at(-2)?.type === "listItem") return;
  this.enter({ type: "text", value: this.sliceSerialize(token) }, token);
  this.exit(token);
}
