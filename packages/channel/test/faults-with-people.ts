import {
  type ButtonsPart,
  ChannelError,
  createInMemoryState,
  type InboundEvent,
  type OutboundPart,
} from "../src/index.ts";
import { another, type Fault, given, running } from "./planting.ts";

/** Clicks and commands that are not what came. */
const interactions = (change: (event: InboundEvent) => InboundEvent) =>
  given(({ emit }) => ({ emit: (event) => emit(event.type === "message" ? event : change(event)) }));

/** A question with buttons that is not shown as it was put. */
const question = (change: (part: ButtonsPart) => OutboundPart) =>
  running(({ send }) => ({
    send: (to, { parts, ...message }, options) => {
      const shown = parts.map((part) => (part.type === "buttons" ? change(part) : part));
      return send(to, { ...message, parts: shown }, options);
    },
  }));

/** What can be wrong with what people are offered, and with what is done to messages that are there. */
export const faultsWithPeople: readonly Fault[] = [
  {
    fault: "forgets what it heard last",
    check: "coming back: hands over what was said while its process was away, in order and once",
    plant: given(() => ({ state: createInMemoryState() })),
  },
  {
    fault: "edits by a second message",
    check: "changes: changes a message of its own in its place",
    plant: running(({ send }) => ({
      edit: async (to, _messageId, message, signal) =>
        void (await send(to, message, { idempotencyKey: another(), signal })),
    })),
  },
  {
    fault: "leaves what it was to take back",
    check: "changes: takes a message back, and changes none that is gone",
    plant: running(() => ({ remove: async () => {} })),
  },
  {
    fault: "would try for ever to change what is gone",
    check: "changes: takes a message back, and changes none that is gone",
    plant: running(() => ({
      edit: async () => {
        throw new ChannelError("transient", "try again");
      },
    })),
  },
  {
    fault: "keeps its reactions",
    check: "changes: reacts to a message, and takes that back",
    plant: running(({ react }) => ({
      react: async (to, messageId, { emoji }, signal) => react?.(to, messageId, { emoji, on: true }, signal),
    })),
  },
  {
    fault: "writes that it writes",
    check: "changes: shows that it writes without a message",
    plant: running(({ send }) => ({
      typing: async (to, _state, signal) =>
        void (await send(
          to,
          { parts: [{ type: "text", text: "…" }] },
          { idempotencyKey: another(), signal },
        )),
    })),
  },
  {
    fault: "ignores what is under a question",
    check: "buttons: shows a question with its buttons, and says which one was clicked",
    plant: question((part) => ({ ...part, type: "text" })),
  },
  {
    fault: "does not say what was behind the button",
    check: "buttons: shows a question with its buttons, and says which one was clicked",
    plant: interactions((event) => {
      if (event.type !== "action") return event;
      const { value: _behind, ...rest } = event;
      return rest;
    }),
  },
  {
    fault: "makes up ids for clicks",
    check: "buttons: gives a repeated click the same event id, and another click another one",
    plant: interactions((event) => ({ ...event, eventId: another() })),
  },
  {
    fault: "takes all clicks on a message for one",
    check: "buttons: gives a repeated click the same event id, and another click another one",
    plant: interactions((event) => ({ ...event, eventId: "click" })),
  },
  {
    fault: "leaves out the buttons that are too many",
    check: "buttons: offers as much as it claims, and refuses more",
    plant: question((part) => ({ ...part, buttons: part.buttons.slice(0, 8) })),
  },
  {
    fault: "claims more buttons than it can show",
    check: "buttons: offers as much as it claims, and refuses more",
    plant: (sound) => ({
      ...sound,
      capabilities: {
        ...sound.capabilities,
        cards: { ...sound.capabilities.cards, buttons: 20, callbackBytes: 100 },
      },
    }),
  },
  {
    fault: "cuts a long question",
    check:
      "buttons: shows a question as long as it claims, also once it is changed, and refuses a longer one",
    plant: running(({ send }) => ({
      send: (to, { parts, ...message }, options) =>
        send(
          to,
          {
            ...message,
            parts: parts.map((part) =>
              part.type === "buttons" ? { ...part, text: part.text.slice(0, 400) } : part,
            ),
          },
          options,
        ),
    })),
  },
  {
    fault: "cannot say how a long question ended",
    check:
      "buttons: shows a question as long as it claims, also once it is changed, and refuses a longer one",
    plant: running(() => ({
      edit: async () => {
        throw new ChannelError("too_large", "too long");
      },
    })),
  },
  {
    fault: "hands the click over in place of what was written",
    check: "forms: opens a form at a click, and hands over what was written into it",
    plant: interactions((event) => {
      if (event.type !== "action") return event;
      const { text: _written, ...rest } = event;
      return rest;
    }),
  },
  {
    fault: "opens no forms",
    check: "forms: opens a form at a click, and hands over what was written into it",
    plant: question((part) => ({
      ...part,
      buttons: part.buttons.map(({ opensForm: _form, ...button }) => button),
    })),
  },
  {
    fault: "says nothing of the host's commands",
    check: "commands: has the platform list the host's commands",
    plant: given(() => ({ commands: [] })),
  },
  {
    fault: "loses what follows a command",
    check: "commands: hands over a command and what follows it",
    plant: interactions((event) => (event.type === "command" ? { ...event, args: "" } : event)),
  },
  {
    fault: "speaks to anybody",
    check: "people: opens a direct conversation with a person, and with nobody else",
    plant: running(() => ({ openDirect: async (id) => ({ id }) })),
  },
  {
    fault: "calls people by their ids",
    check: "people: says what a person is called, and never fails at it",
    plant: running(() => ({ resolve: async (name) => ({ name }) })),
  },
  {
    fault: "reads from the beginning, newest first",
    check: "history: reads what was said, the newest last and no more than asked for",
    plant: running(({ history }) => ({
      history: async (to, options) => (await history?.(to, { ...options, limit: 100 }))?.toReversed() ?? [],
    })),
  },
];
