import type { CompileContext, Token, Extension as TreeExtension } from "mdast-util-from-markdown";

/**
 * For `mdast-util-from-markdown`, after GFM's own: the boxes of task lists. The parser also finds a box in a paragraph
 * directly below an empty item; there it stays text.
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
