import {
  type ButtonsPart,
  ChannelError,
  createInMemoryState,
  type InboundEvent,
  type OutboundPart,
} from "../src/index.ts";
import { another, type Fault, given, running } from "./planting.ts";

/** Changes the events of clicks and commands. */
const interactions = (change: (event: InboundEvent) => InboundEvent) =>
  given(({ emit }) => ({ emit: (event) => emit(event.type === "message" ? event : change(event)) }));

/** Changes messages with buttons before they are sent. */
const question = (change: (part: ButtonsPart) => OutboundPart) =>
  running(({ send }) => ({
    send: (to, { parts, ...message }, options) => {
      const shown = parts.map((part) => (part.type === "buttons" ? change(part) : part));
      return send(to, { ...message, parts: shown }, options);
    },
  }));

/** Faults in interactions, people, history and changes. */
export const faultsWithPeople: readonly Fault[] = [
  {
    fault: "does not store watermarks",
    check: "backfill: delivers messages missed while offline, in order and once",
    plant: given(() => ({ state: createInMemoryState() })),
  },
  {
    fault: "edits by sending a second message",
    check: "changes: edits its own message in place",
    plant: running(({ send }) => ({
      edit: async (to, _messageId, message, signal) =>
        void (await send(to, message, { idempotencyKey: another(), signal })),
    })),
  },
  {
    fault: "does not remove messages",
    check: "changes: removes a message, and cannot edit it afterwards",
    plant: running(() => ({ remove: async () => {} })),
  },
  {
    fault: "reports the edit of a removed message as retryable",
    check: "changes: removes a message, and cannot edit it afterwards",
    plant: running(() => ({
      edit: async () => {
        throw new ChannelError("transient", "try again");
      },
    })),
  },
  {
    fault: "does not remove reactions",
    check: "changes: adds and removes reactions",
    plant: running(({ react }) => ({
      react: async (to, messageId, { emoji }, signal) => react?.(to, messageId, { emoji, on: true }, signal),
    })),
  },
  {
    fault: "sends a message as typing indicator",
    check: "changes: shows the typing indicator without sending a message",
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
    fault: "drops buttons",
    check: "buttons: shows buttons and reports which one was clicked",
    plant: question((part) => ({ ...part, type: "text" })),
  },
  {
    fault: "drops the value of a click",
    check: "buttons: shows buttons and reports which one was clicked",
    plant: interactions((event) => {
      if (event.type !== "action") return event;
      const { value: _behind, ...rest } = event;
      return rest;
    }),
  },
  {
    fault: "generates event ids for clicks",
    check: "buttons: uses the same event id for a redelivered click, and another for a new one",
    plant: interactions((event) => ({ ...event, eventId: another() })),
  },
  {
    fault: "uses one event id for all clicks",
    check: "buttons: uses the same event id for a redelivered click, and another for a new one",
    plant: interactions((event) => ({ ...event, eventId: "click" })),
  },
  {
    fault: "drops buttons over the limit",
    check: "buttons: accepts buttons up to its limits and rejects more",
    plant: question((part) => ({ ...part, buttons: part.buttons.slice(0, 8) })),
  },
  {
    fault: "claims more buttons than it can show",
    check: "buttons: accepts buttons up to its limits and rejects more",
    plant: (echo) => ({
      ...echo,
      capabilities: {
        ...echo.capabilities,
        cards: { ...echo.capabilities.cards, buttons: 20, callbackBytes: 100 },
      },
    }),
  },
  {
    fault: "truncates the text above buttons",
    check: "buttons: accepts button texts up to their limit, also after an edit",
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
    fault: "cannot edit a long text with buttons",
    check: "buttons: accepts button texts up to their limit, also after an edit",
    plant: running(() => ({
      edit: async () => {
        throw new ChannelError("too_large", "too long");
      },
    })),
  },
  {
    fault: "drops the text of a form",
    check: "forms: opens a form on a click and reports the entered text",
    plant: interactions((event) => {
      if (event.type !== "action") return event;
      const { text: _written, ...rest } = event;
      return rest;
    }),
  },
  {
    fault: "opens no forms",
    check: "forms: opens a form on a click and reports the entered text",
    plant: question((part) => ({
      ...part,
      buttons: part.buttons.map(({ opensForm: _form, ...button }) => button),
    })),
  },
  {
    fault: "registers no commands",
    check: "commands: registers the host's commands",
    plant: given(() => ({ commands: [] })),
  },
  {
    fault: "drops the arguments of commands",
    check: "commands: reports commands with their arguments",
    plant: interactions((event) => (event.type === "command" ? { ...event, args: "" } : event)),
  },
  {
    fault: "accepts any person in openDirect",
    check: "people: opens a direct conversation only with an existing person",
    plant: running(() => ({ openDirect: async (id) => ({ id }) })),
  },
  {
    fault: "returns ids as names",
    check: "people: resolves names and never throws",
    plant: running(() => ({ resolve: async (name) => ({ name }) })),
  },
  {
    fault: "returns the whole history, newest first",
    check: "history: reads the history, newest last and up to the limit",
    plant: running(({ history }) => ({
      history: async (to, options) => (await history?.(to, { ...options, limit: 100 }))?.toReversed() ?? [],
    })),
  },
];
