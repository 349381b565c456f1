import { expect, it } from "vitest";
import { imessage } from "../src/imessage.ts";

it("can send only over its connection with imsg, and over HTTP with BlueBubbles", () => {
  expect(imessage.sendsOverConnection?.({ command: ["imsg", "rpc"] })).toBe(true);
  expect(imessage.sendsOverConnection?.({ baseUrl: "http://127.0.0.1:1234", password: "p" })).toBe(false);
});
