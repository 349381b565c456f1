import type { Raw } from "../../raw.ts";
import { signalPerson, startSignal, textEnvelope } from "../../signal/index.ts";
import type { PlatformEvent } from "../scenario.ts";
import { platformEvents } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";
import { hasMessage, until } from "./stored-message.ts";

const ACCOUNT = "+4915199999999";
const UUID = "99999999-aaaa-4aaa-8aaa-000000000009";
const GROUP = "Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=";
const FIRST_MESSAGE = 1_760_000_000_000;

/** A signal-cli daemon, to whose stream the account listens. A message is delivered once the gateway has stored it. */
export const startSignalPlatform: StartPlatform = async (scenario) => {
  const names = scenario.people["signal"] ?? {};
  const people = Object.entries(names).map(([uuid, name]) => ({ uuid, name }));
  const groups = platformEvents(scenario).flatMap(({ chatType, chatId = GROUP }) =>
    chatType === "group" ? [chatId] : [],
  );
  const signal = await startSignal({
    account: ACCOUNT,
    uuid: UUID,
    people: [signalPerson, ...people],
    groups,
    receiveMode: "on-connection",
  });
  let count = 0;
  return {
    env: { SIGNAL_URL: signal.url, SIGNAL_ACCOUNT: ACCOUNT },
    async post(event, gateway) {
      count += 1;
      const sent = event.body ?? createEnvelope(event, FIRST_MESSAGE + count, names);
      await until(() => signal.events.listeners > 0);
      await signal.push(sent);
      const messageId = `${sent["timestamp"]}:${sent["sourceUuid"]}`;
      const isStored = await until(() => hasMessage(gateway, (id) => id === messageId));
      return { sent, status: isStored ? 200 : 503 };
    },
    sent: () =>
      signal.requests
        .filter(({ text }) => text.includes('"method":"send"'))
        .map(({ method, path, text }) => ({ channel: "signal", method, path, body: text })),
    stop: () => signal.stop(),
  };
};

function createEnvelope(
  { messageId, sender = signalPerson.uuid, chatType, chatId = GROUP, mention, text = "" }: PlatformEvent,
  now: number,
  names: Readonly<Record<string, string>>,
): Raw {
  const self = { name: ACCOUNT, number: ACCOUNT, uuid: UUID, start: 0, length: 1 };
  return textEnvelope(mention === true ? `\ufffc ${text}` : text, {
    from: { uuid: sender, name: names[sender] ?? "" },
    timestamp: messageId === undefined ? now : Number(messageId),
    groupId: chatType === "group" ? chatId : undefined,
    fields: mention === true ? { mentions: [self] } : undefined,
  });
}
