import { expect, it } from "vitest";
import { toWhatsApp } from "./markdown.ts";

it.each([
  ["**bold**, *it* and ~~gone~~", "*bold*, _it_ and ~gone~"],
  ["***both***", "_*both*_"],
  ["# A *title* **here**", "*A _title_ here*"],
  ["a `code` and `` `tick` ``", "a `code` and `tick`"],
  ["```js\nconst a = `${1}`;\n```", "```\nconst a = `${1}`;\n```"],
  ["- one\n- two\n  - three", "- one\n- two\n   - three"],
  ["3. one\n4. two", "3. one\n4. two"],
  ["- [x] done\n- [ ] open", "- ☑ done\n- ☐ open"],
  ["> one\n> two", "> one\n> two"],
  ["[docs](https://a.b/c) and <https://a.b>", "docs (https://a.b/c) and https://a.b"],
  ["![cat](https://a.b/c.png)", "cat (https://a.b/c.png)"],
  ["| a | b |\n| - | - |\n| 1 | 2 |", "```\n| a | b |\n| - | - |\n| 1 | 2 |\n```"],
  ["one  \ntwo\n\nthree", "one\ntwo\n\nthree"],
])("converts %j", (markdown, expected) => {
  expect(toWhatsApp(markdown)).toBe(expected);
});

it("leaves out marks next to letters, which WhatsApp would show instead of formatting", () => {
  expect(toWhatsApp("这是**重要**的，**结论**。")).toBe("这是重要的，*结论*。");
  expect(toWhatsApp("un**believ**able")).toBe("unbelievable");
});

it("cannot be confused by characters that it uses itself", () => {
  expect(toWhatsApp("\ue001x\ue002 **y**\ue004")).toBe("x *y*");
});
