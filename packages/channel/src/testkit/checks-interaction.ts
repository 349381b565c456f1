import type { ChannelDefinition } from "../contract/definition.ts";
import type { ActionEvent } from "../contract/events.ts";
import type { ButtonsPart } from "../contract/messages.ts";
import { account, type Bench, eventually, exactly, never } from "./bench.ts";
import { type Check, method, required, requires } from "./check.ts";
import { checkEvent } from "./check-event.ts";
import { expectChannelError, expectEqual, expectThat } from "./expect.ts";

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
  { name: "status", description: "Shows the status" },
  { name: "remind", description: "Sets a reminder", usage: "[text]" },
];

const requiresCards = requires("cards", "no buttons");
const requiresCommands = requires("commands", "no slash commands");

function requiresTextMax(definition: ChannelDefinition): string | undefined {
  const { cards } = definition.capabilities;
  return (
    requiresCards(definition) ?? (cards?.textMax === undefined ? "same limit as other texts" : undefined)
  );
}

function requiresForms(definition: ChannelDefinition): string | undefined {
  return (
    requiresCards(definition) ?? (definition.capabilities.cards?.forms === true ? undefined : "no forms")
  );
}

/** Sends a message with buttons. Returns functions to read and to click them. */
async function sendButtons<Address>(
  { channel, platform }: Bench<Address>,
  part: ButtonsPart,
  key = "conf-1",
) {
  const options = { idempotencyKey: key, signal: never };
  const { parts } = await channel.send(platform.to, { parts: [part] }, options);
  const messageId = required(parts[0]?.messageId, "receipt");
  const choose = method(platform, "choose");
  return {
    messageId,
    choices: () => method(platform, "choices")(messageId),
    click: async (label: string, more: { readonly eventId?: string; readonly text?: string } = {}) =>
      expectThat(
        await choose(channel, { messageId, label, eventId: `choice-${label}`, ...more }),
        `The channel must acknowledge a click on "${label}"`,
      ),
  };
}

function getActions<Address>({ events }: Bench<Address>): readonly ActionEvent[] {
  return events.filter((event) => event.type === "action");
}

/** Creates buttons with ids of 16 characters and distinct values that take `bytes` bytes as JSON. */
function createButtons(count: number, bytes: number): ButtonsPart["buttons"] {
  return Array.from({ length: count }, (_, index) => ({
    id: "sixteen-letters!",
    label: `Choice ${index}`,
    value: `${"v".repeat(bytes - 4)}${String(index).padStart(2, "0")}`,
  }));
}

function createQuestion(count: number, bytes: number): ButtonsPart {
  return { type: "buttons", text: "Which?", buttons: createButtons(count, bytes) };
}

/** Checks of buttons, forms and commands. */
export const interactionChecks: readonly Check[] = [
  {
    group: "buttons",
    name: "shows buttons and reports which one was clicked",
    applies: requiresCards,
    async run({ open, definition }) {
      await using bench = await open();
      const { messageId, choices, click } = await sendButtons(bench, question);
      expectEqual(
        choices(),
        ["Yes", "No", "Later"],
        "The message must show the labels of all buttons in order",
      );
      expectThat(
        bench.platform.sent()[0]?.text.includes("Shall I?"),
        "The message must show the text above the buttons",
      );
      for (const { label } of question.buttons) await click(label);
      const actions = getActions(bench);
      expectEqual(
        actions.map((action) => ({ id: action.actionId, value: action.value })),
        question.buttons.map(({ id, value }) => ({ id, value })),
        "Each click must cause an action event with the id and value of its button",
      );
      for (const action of actions) {
        expectEqual(
          checkEvent(action, { channel: definition.id, account }),
          [],
          "The event of a click violates the contract",
        );
        expectEqual(action.messageId, messageId, "The event of a click must have the id of its message");
        expectEqual(
          { isSelf: action.sender.isSelf, isBot: action.sender.isBot },
          { isSelf: false, isBot: false },
          "The sender of a click must be the person",
        );
      }
    },
  },
  {
    group: "buttons",
    name: "uses the same event id for a redelivered click, and another for a new one",
    applies: requiresCards,
    async run({ open }) {
      await using bench = await open();
      const { click } = await sendButtons(bench, question);
      const ids: string[] = [];
      bench.onEmit = async ({ eventId }) => {
        ids.push(eventId);
        return "accepted";
      };
      for (const eventId of ["click-1", "click-1", "click-2"]) await click("Yes", { eventId });
      expectEqual(ids.length, 3, "Three clicks must cause three events");
      expectThat(ids[0] === ids[1], "A click that is delivered again must have the same event id");
      expectThat(ids[1] !== ids[2], "A second click on the same button must have another event id");
    },
  },
  {
    group: "buttons",
    name: "accepts buttons up to its limits and rejects more",
    applies: requiresCards,
    async run({ open, definition }) {
      await using bench = await open();
      const { buttons: max = 0, callbackBytes = 0 } = definition.capabilities.cards ?? {};
      // First two buttons with values of maximum length, then the maximum number of buttons.
      for (const { key, count, bytes } of [
        { key: "conf-1", count: 2, bytes: callbackBytes },
        { key: "conf-2", count: max, bytes: 16 },
      ]) {
        const what = `A message with ${count} buttons and values of ${bytes} bytes`;
        const part = createQuestion(count, bytes);
        const { choices, click } = await sendButtons(bench, part, key);
        expectEqual(choices().length, count, `${what} must show all buttons`);
        await click(`Choice ${count - 1}`, { eventId: `click-${key}` });
        const { actionId, value } = getActions(bench).at(-1) ?? {};
        const last = part.buttons[count - 1];
        expectEqual(
          { id: actionId, value },
          { id: last?.id, value: last?.value },
          `${what} must report the last button unchanged`,
        );
      }
      const sent = bench.platform.sent().length;
      for (const [what, part] of [
        [`${max + 1} buttons, one more than claimed,`, createQuestion(max + 1, 16)],
        [
          `a value of ${callbackBytes + 1} bytes, one more than claimed,`,
          createQuestion(1, callbackBytes + 1),
        ],
      ] as const)
        await expectChannelError(
          bench.channel.send(
            bench.platform.to,
            { parts: [part] },
            { idempotencyKey: "conf-3", signal: never },
          ),
          `Sending a message with ${what}`,
          "too_large",
        );
      expectEqual(bench.platform.sent().length, sent, "A rejected message with buttons must not be sent");
    },
  },
  {
    group: "buttons",
    name: "accepts button texts up to their limit, also after an edit",
    applies: requiresTextMax,
    async run({ open, definition }) {
      await using bench = await open();
      const { channel, platform } = bench;
      const { text: unit, cards, edit } = definition.capabilities;
      const max = cards?.textMax ?? 0;
      const [long, other] = [exactly(max, unit), `!${exactly(max - 1, unit)}`];
      const { messageId, choices } = await sendButtons(bench, { ...question, text: long });
      expectEqual(
        platform.sent(),
        [{ messageId, text: long }],
        "A text of cards.textMax must arrive unchanged above its buttons",
      );
      expectEqual(choices(), ["Yes", "No", "Later"], "A message with a long text must show all buttons");
      if (edit !== undefined) {
        const replacement = { parts: [{ type: "text", text: other }] } as const;
        await method(channel, "edit")(platform.to, messageId, replacement, never);
        expectEqual(
          platform.sent(),
          [{ messageId, text: other }],
          "An edit of a message with buttons must replace its text",
        );
        expectEqual(choices(), [], "An edit without buttons must remove the buttons");
      }
      const tooLong = { parts: [{ ...question, text: exactly(max + 1, unit) }] };
      await expectChannelError(
        channel.send(platform.to, tooLong, { idempotencyKey: "conf-2", signal: never }),
        "Sending buttons with a text over cards.textMax",
        "too_large",
      );
    },
  },
  {
    group: "forms",
    name: "opens a form on a click and reports the entered text",
    applies: requiresForms,
    async run({ open, definition }) {
      await using bench = await open();
      const button: ButtonsPart["buttons"][number] = {
        id: "answer",
        label: "In other words",
        opensForm: true,
        value: { id: "q-1" },
      };
      const { messageId, click } = await sendButtons(bench, {
        ...question,
        buttons: [...question.buttons, button],
      });
      const text = "Rather tomorrow 😀\nat nine";
      await click("In other words", { text });
      const actions = getActions(bench);
      expectEqual(
        actions.map(({ actionId, value, text: entered }) => ({ actionId, value, text: entered })),
        [{ actionId: button.id, value: button.value, text }],
        "A form must cause one event, when it is submitted, with the button's id and value and the entered text",
      );
      for (const action of actions) {
        expectEqual(
          checkEvent(action, { channel: definition.id, account }),
          [],
          "The event of a form violates the contract",
        );
        expectEqual(action.messageId, messageId, "The event of a form must have the id of its message");
      }
    },
  },
  {
    group: "commands",
    name: "registers the host's commands",
    applies: requiresCommands,
    async run({ open, waitMs }) {
      await using bench = await open({ context: { commands: hostCommands } });
      const listed = method(bench.platform, "commands");
      for (const { name } of hostCommands)
        await eventually(
          () => listed().includes(name),
          `The channel must register the command ${name}`,
          waitMs,
        );
    },
  },
  {
    group: "commands",
    name: "reports commands with their arguments",
    applies: requiresCommands,
    async run({ open, definition }) {
      await using bench = await open({ context: { commands: hostCommands } });
      const use = method(bench.platform, "command");
      for (const used of [
        { eventId: "command-1", name: "remind", args: "me at nine" },
        { eventId: "command-2", name: "status", args: "" },
      ])
        expectThat(await use(bench.channel, used), `The channel must acknowledge the command ${used.name}`);
      const commands = bench.events.filter((event) => event.type === "command");
      expectEqual(
        commands.map(({ name, args }) => [name, args]),
        [
          ["remind", "me at nine"],
          ["status", ""],
        ],
        "Each command must cause a command event with its name and arguments",
      );
      for (const command of commands) {
        expectEqual(
          checkEvent(command, { channel: definition.id, account }),
          [],
          "The event of a command violates the contract",
        );
        expectEqual(
          definition.codec.encode(definition.codec.decode(command.address)),
          command.address,
          "The address of a command must round-trip through the codec",
        );
      }
    },
  },
];
