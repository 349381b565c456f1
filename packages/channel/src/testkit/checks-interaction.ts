import { strict as assert } from "node:assert";
import type { ChannelDefinition } from "../contract/definition.ts";
import type { ActionEvent } from "../contract/events.ts";
import type { ButtonsPart } from "../contract/messages.ts";
import { account, type Bench, eventually, exactly, never } from "./bench.ts";
import { type Check, method, needed, only } from "./check.ts";
import { checkEvent } from "./check-event.ts";
import { failing } from "./failing.ts";

const question: ButtonsPart = {
  type: "buttons",
  text: "Shall I?",
  buttons: [
    { id: "allow", label: "Yes", style: "primary", value: { id: "q-1", times: 1 } },
    { id: "deny", label: "No", style: "danger", value: "q-1" },
    { id: "later", label: "Later" },
  ],
};

const hostCommands = [
  { name: "status", description: "What is going on" },
  { name: "remind", description: "Reminds you", usage: "[text]" },
];

const withCards = only("cards", "no buttons");
const withCommands = only("commands", "no slash commands");

function withLongQuestions(definition: ChannelDefinition): string | undefined {
  const { cards } = definition.capabilities;
  return withCards(definition) ?? (cards?.textMax === undefined ? "no more text than elsewhere" : undefined);
}

function withForms(definition: ChannelDefinition): string | undefined {
  return withCards(definition) ?? (definition.capabilities.cards?.forms === true ? undefined : "no forms");
}

/** A question that stands there, and what can be done with it. */
async function ask<Address>({ channel, platform }: Bench<Address>, part: ButtonsPart, key = "conf-1") {
  const options = { idempotencyKey: key, signal: never };
  const { parts } = await channel.send(platform.to, { parts: [part] }, options);
  const messageId = needed(parts[0]?.messageId, "receipt");
  const choose = method(platform, "choose");
  return {
    messageId,
    choices: () => method(platform, "choices")(messageId),
    choose: (label: string, more: { readonly eventId?: string; readonly text?: string } = {}) =>
      choose(channel, { messageId, label, eventId: `choice-${label}`, ...more }),
  };
}

function actionsOf<Address>({ events }: Bench<Address>): readonly ActionEvent[] {
  return events.filter((event) => event.type === "action");
}

/** `id` and a value that takes so many bytes as JSON. */
function buttonOf(bytes: number, index: number): ButtonsPart["buttons"][number] {
  return { id: "sixteen-letters!", label: `Choice ${index}`, value: "v".repeat(bytes - 2) };
}

/** What people do with what the bot offers them. */
export const interactionChecks: readonly Check[] = [
  {
    group: "buttons",
    name: "shows a question with its buttons, and says which one was clicked",
    applies: withCards,
    async run({ open, definition }) {
      await using bench = await open();
      const { messageId, choices, choose } = await ask(bench, question);
      assert.deepEqual(choices(), ["Yes", "No", "Later"]);
      assert.ok(bench.platform.sent()[0]?.text.includes("Shall I?"), "the question stands above its buttons");
      for (const { label } of question.buttons) assert.equal(await choose(label), true, `${label}: taken`);
      const actions = actionsOf(bench);
      assert.deepEqual(
        actions.map((action) => ({ id: action.actionId, value: action.value })),
        question.buttons.map(({ id, value }) => ({ id, value })),
      );
      for (const action of actions) {
        assert.deepEqual(checkEvent(action, { channel: definition.id, account }), []);
        assert.equal(action.messageId, messageId);
        assert.deepEqual([action.sender.isSelf, action.sender.isBot], [false, false]);
      }
    },
  },
  {
    group: "buttons",
    name: "gives a repeated click the same event id, and another click another one",
    applies: withCards,
    async run({ open }) {
      await using bench = await open();
      const { choose } = await ask(bench, question);
      const ids: string[] = [];
      bench.onEmit = async ({ eventId }) => {
        ids.push(eventId);
        return "accepted";
      };
      for (const eventId of ["click-1", "click-1", "click-2"])
        assert.equal(await choose("Yes", { eventId }), true);
      assert.equal(ids.length, 3);
      assert.equal(ids[0], ids[1], "a click that is delivered again");
      assert.notEqual(ids[1], ids[2], "a second click");
    },
  },
  {
    group: "buttons",
    name: "offers as much as it claims, and refuses more",
    applies: withCards,
    async run({ open, definition }) {
      await using bench = await open();
      const { buttons: most = 0, callbackBytes = 0 } = definition.capabilities.cards ?? {};
      const part = (count: number, bytes: number): ButtonsPart => ({
        type: "buttons",
        text: "Which?",
        buttons: Array.from({ length: count }, (_, index) => buttonOf(bytes, index)),
      });
      // Few with as much behind each as there can be, and as many as there can be.
      for (const { key, count, bytes } of [
        { key: "conf-1", count: 2, bytes: callbackBytes },
        { key: "conf-2", count: most, bytes: 16 },
      ]) {
        const { buttons } = part(count, bytes);
        const asked = await ask(bench, { type: "buttons", text: "Which?", buttons: numbered(buttons) }, key);
        assert.equal(asked.choices().length, count);
        const last = buttons[count - 1];
        assert.equal(await asked.choose(`Choice ${count - 1}`, { eventId: `click-${key}` }), true);
        const action = actionsOf(bench).at(-1);
        assert.equal(action?.actionId, last?.id);
        assert.equal(action?.value, numbered(buttons)[count - 1]?.value);
      }
      const sent = bench.platform.sent().length;
      for (const [what, tooMuch] of [
        ["one button more", part(most + 1, 16)],
        ["one byte more", part(1, callbackBytes + 1)],
      ] as const) {
        const options = { idempotencyKey: "conf-3", signal: never };
        const error = await failing(
          bench.channel.send(bench.platform.to, { parts: [tooMuch] }, options),
          what,
        );
        assert.equal(error.code, "too_large", what);
      }
      assert.equal(bench.platform.sent().length, sent);
    },
  },
  {
    group: "buttons",
    name: "shows a question as long as it claims, also once it is changed, and refuses a longer one",
    applies: withLongQuestions,
    async run({ open, definition }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const { text: unit, cards, edit } = definition.capabilities;
      const most = cards?.textMax ?? 0;
      const [long, other] = [exactly(most, unit), `!${exactly(most - 1, unit)}`];
      const { messageId, choices } = await ask(bench, { ...question, text: long });
      assert.deepEqual(platform.sent(), [{ messageId, text: long }]);
      assert.deepEqual(choices(), ["Yes", "No", "Later"]);
      if (edit !== undefined) {
        const ended = { parts: [{ type: "text", text: other }] } as const;
        await method(channel, "edit")(platform.to, messageId, ended, never);
        assert.deepEqual(platform.sent(), [{ messageId, text: other }]);
        assert.deepEqual(choices(), [], "what is over offers nothing");
      }
      const tooLong = { parts: [{ ...question, text: exactly(most + 1, unit) }] };
      const options = { idempotencyKey: "conf-2", signal: never };
      const error = await failing(channel.send(platform.to, tooLong, options), "a longer question");
      assert.equal(error.code, "too_large");
    },
  },
  {
    group: "forms",
    name: "opens a form at a click, and hands over what was written into it",
    applies: withForms,
    async run({ open, definition }) {
      await using bench = await open();
      const own: ButtonsPart["buttons"][number] = {
        id: "answer",
        label: "In other words",
        opensForm: true,
        value: { id: "q-1" },
      };
      const { messageId, choose } = await ask(bench, { ...question, buttons: [...question.buttons, own] });
      const text = "Rather tomorrow 😀\nat nine";
      assert.equal(await choose("In other words", { text }), true);
      const actions = actionsOf(bench);
      assert.equal(actions.length, 1, "the click itself is nothing to hand over, what was written is");
      const [action] = actions;
      assert.ok(action !== undefined);
      assert.deepEqual(checkEvent(action, { channel: definition.id, account }), []);
      assert.deepEqual([action.actionId, action.value, action.text], [own.id, own.value, text]);
      assert.equal(action.messageId, messageId);
    },
  },
  {
    group: "commands",
    name: "has the platform list the host's commands",
    applies: withCommands,
    async run({ open, waitMs }) {
      await using bench = await open({ context: { commands: hostCommands } });
      const listed = method(bench.platform, "commands");
      for (const { name } of hostCommands)
        await eventually(() => listed().includes(name), `the platform lists ${name}`, waitMs);
    },
  },
  {
    group: "commands",
    name: "hands over a command and what follows it",
    applies: withCommands,
    async run({ open, definition }) {
      await using bench = await open({ context: { commands: hostCommands } });
      const use = method(bench.platform, "command");
      assert.equal(
        await use(bench.channel, { eventId: "command-1", name: "remind", args: "me at nine" }),
        true,
      );
      assert.equal(await use(bench.channel, { eventId: "command-2", name: "status", args: "" }), true);
      const commands = bench.events.filter((event) => event.type === "command");
      assert.deepEqual(
        commands.map(({ name, args }) => [name, args]),
        [
          ["remind", "me at nine"],
          ["status", ""],
        ],
      );
      for (const command of commands) {
        assert.deepEqual(checkEvent(command, { channel: definition.id, account }), []);
        assert.deepEqual(
          definition.codec.encode(definition.codec.decode(command.address)),
          command.address,
          "where the answer goes",
        );
      }
    },
  },
];

/** Values that tell the buttons apart. */
function numbered(buttons: ButtonsPart["buttons"]): ButtonsPart["buttons"] {
  return buttons.map((button, index) => {
    const tail = String(index).padStart(2, "0");
    return { ...button, value: `${String(button.value).slice(0, -2)}${tail}` };
  });
}
