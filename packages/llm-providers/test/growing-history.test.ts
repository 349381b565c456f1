import type { Message, ToolCallBlock } from "@signalbox/agent-core";
import { expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { result, said, tools, user } from "./support/conversations.ts";
import { testModel } from "./support/fixtures.ts";
import { bodyOf } from "./support/requests.ts";

const model = testModel("anthropic-messages", "claude-sonnet-4-6");

const call = (id: string, path: string): ToolCallBlock => {
  const args = { path };
  return { type: "toolCall", id, name: "read_file", args, argsText: JSON.stringify(args) };
};
const text = (said: string) => [{ type: "text", text: said }] as const;
const turn = (n: number): Message[] => [
  said(model, [call(`a${n}`, "one"), call(`b${n}`, "two")]),
  result(`a${n}`, "read_file", text(`first ${n}`)),
  result(`b${n}`, "read_file", text(`second ${n}`), true),
];

function sent(messages: readonly Message[]): Promise<unknown> {
  return bodyOf(anthropicMessages, model, {
    context: { system: { stable: "s" }, messages, tools },
    options: {},
  });
}

/** The same messages as nobody has seen them before. */
function anew(messages: readonly Message[]): Message[] {
  return structuredClone([...messages]);
}

test("a history that grows is sent as if it had been there at once", async () => {
  const history: Message[] = [user("Read."), user([{ type: "text", text: "Both." }])];
  for (let n = 0; n < 4; n++) {
    expect(await sent(history)).toEqual(await sent(anew(history)));
    history.push(...turn(n));
  }
  expect(await sent(history)).toEqual(await sent(anew(history)));
});

test("a history that was changed in place, or cut, is sent as it is now", async () => {
  const history: Message[] = [user("Read."), ...turn(0), ...turn(1)];
  await sent(history);
  history[2] = result("a0", "read_file", text("shorter"));
  expect(await sent(history)).toEqual(await sent(anew(history)));
  history.splice(4, 3);
  expect(await sent(history)).toEqual(await sent(anew(history)));
  history.push(said(model, text("Done.")), user("And?"));
  expect(await sent(history)).toEqual(await sent(anew(history)));
});

test("what was sent before is not made into JSON again", async () => {
  let reads = 0;
  const args = {
    get path(): string {
      reads++;
      return "one";
    },
  };
  const first: Message[] = [
    user("Read."),
    said(model, [{ ...call("a", "one"), args }]),
    result("a", "read_file", text("1")),
  ];
  await sent([...first, ...turn(1)]);
  const before = reads;
  await sent([...first, ...turn(1), ...turn(2)]);
  expect(reads).toBe(before);
});
