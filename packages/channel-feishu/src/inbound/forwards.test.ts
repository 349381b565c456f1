import { expect, it } from "vitest";
import { forwardedText } from "./forwards.ts";

const item = (message_id: string, text: string, more = {}) => ({
  message_id,
  msg_type: "text",
  body: { content: JSON.stringify({ text }) },
  sender: { id: "ou_li" },
  ...more,
});

it("includes messages without the id of the forward that contains them", async () => {
  const root = { message_id: "om_fwd", msg_type: "merge_forward", body: { content: "x" } };
  const items = [
    root,
    item("om_a", "first"),
    item("om_b", "x", { msg_type: "merge_forward", upper_message_id: "om_fwd" }),
    item("om_c", "inner", { upper_message_id: "om_b" }),
  ];
  expect(await forwardedText("om_fwd", items, async () => "Li")).toBe(
    "[forwarded messages]\nLi: first\nLi: [forwarded messages]\n  Li: inner",
  );
});
