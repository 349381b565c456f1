import { setTimeout as sleep } from "node:timers/promises";
import type { DeletedEvent, EditedEvent, MessageEvent } from "@signalbox/channel";
import { type FakeFeishu, groupMention, textMessage } from "@signalbox/testkit/feishu";
import {
  editedTextOf,
  heardText,
  isCommand,
  isGroup,
  type Kind,
  kindsOf,
  nameOf,
  RELAY_SESSIONS,
  relayOf,
  type Tag,
  textOf,
} from "./conversation.ts";
import type { Change } from "./evidence.ts";
import type { Random } from "./random.ts";
import type { RelayName } from "./relay.ts";
import type { Vendor } from "./vendor.ts";

export interface PlatformOptions {
  readonly feishu: FakeFeishu;
  /** What the relay channels know their platforms by. */
  readonly relayToken: string;
  /** Those of the channels with a connection of their own, by their sessions. */
  readonly vendors: ReadonlyMap<number, Vendor>;
  readonly random: Random;
  readonly sessions: number;
  /** Messages of one session that wait for their answer at most. */
  readonly ahead: number;
  /** Longest pause of a person between two messages, in milliseconds. */
  readonly pauseMs: number;
  /** What people write, wherever they can write any of it. Default: everything. */
  readonly only?: readonly [Kind, ...Kind[]];
  /** What nobody writes, since it cannot be done here. */
  readonly without: readonly Kind[];
  /** Where the gateway listens just now. */
  readonly url: () => string | undefined;
  /** What people on the relays write more often than else just now. */
  readonly wish: () => Kind | undefined;
  /** Whether a message has its answer or will get none, by its name; or what came back was heard, by those words. */
  readonly answered: (name: string) => boolean;
}

/**
 * People who write, and a platform that delivers each event until it is acknowledged, some of them again after that.
 */
export interface Platform {
  /** Every message whose event was acknowledged, in the order in which that happened. */
  readonly acknowledged: readonly Tag[];
  /** Messages of a group that speak to nobody. */
  readonly unaddressed: readonly string[];
  /** Messages that were changed, and those that were deleted, once that was acknowledged. */
  readonly edits: readonly Change[];
  readonly deletions: readonly Change[];
  /** Answers that were neither an acknowledgement nor a refusal to try later. */
  readonly odd: readonly string[];
  readonly deliveries: () => number;
  /** No new messages from now on; resolves when every event that was sent is acknowledged. */
  finish(): Promise<void>;
}

/** Feishu's own limit for an answer to an event. */
const ACK_MS = 3_000;
const AGAIN_MS = 40;
/** How long a person waits for answers that do not come, since a message was deleted or its answer refused. */
const PATIENCE_MS = 1_500;

export function messageId(name: string): string {
  return `om_${name.replace(".", "_")}`;
}

export function chatOf(session: number): string {
  return `oc_session_${session}`;
}

export function toSender(session: number): string {
  return `ou_person_${session}`;
}

type Relayed = MessageEvent | EditedEvent | DeletedEvent;

function relayedOf(channel: RelayName, tag: Tag, type: Relayed["type"]): Relayed {
  const name = nameOf(tag);
  const chat = chatOf(tag.session);
  const base = {
    messageId: messageId(name),
    channel,
    account: "main",
    conversation: { id: chat, kind: "direct" },
    address: `${channel}:${chat}`,
    sender: { id: toSender(tag.session), isBot: false, isSelf: false },
    addressed: "dm",
    timestamp: Date.now(),
  } as const;
  const body = { media: [], mentions: [] };
  switch (type) {
    case "message":
      return { ...base, ...body, type, eventId: `ev_${name}`, text: textOf(tag) };
    case "edited":
      return { ...base, ...body, type, eventId: editEvent(name), text: editedTextOf(tag) };
    case "deleted":
      return { ...base, type, eventId: `ev_deleted_${name}` };
  }
}

export function editEvent(name: string): string {
  return `ev_edited_${name}`;
}

function eventOf(feishu: FakeFeishu, tag: Tag): unknown {
  const name = nameOf(tag);
  const options = {
    eventId: `ev_${name}`,
    messageId: messageId(name),
    chatId: chatOf(tag.session),
    senderId: toSender(tag.session),
  };
  return isGroup(tag.session)
    ? groupMention(textOf(tag), feishu.bot, options)
    : textMessage(textOf(tag), options);
}

export function startPlatform(options: PlatformOptions): Platform {
  const { feishu, random } = options;
  const acknowledged: Tag[] = [];
  const unaddressed: string[] = [];
  const odd: string[] = [];
  const background = new Set<Promise<unknown>>();
  let deliveries = 0;
  let finishing = false;

  const edits: Change[] = [];
  const deletions: Change[] = [];

  /** Whether the event was acknowledged. */
  const post = async (event: unknown): Promise<boolean> => {
    const url = options.url();
    if (url === undefined) return false;
    deliveries++;
    const answer = send(url, event)
      .then(async (response) => {
        await response.arrayBuffer();
        // 408: it was stopped for longer than it waits for a request.
        if (![200, 408, 500, 503].includes(response.status)) odd.push(`${response.status} for an event`);
        return response.status === 200;
      })
      .catch(() => false);
    return Promise.race([answer, sleep(ACK_MS, false, { ref: false })]);
  };

  const send = (url: string, event: unknown): Promise<Response> => {
    if (!isRelayed(event)) return feishu.postEvent(`${url}/channels/feishu/main/events`, event);
    const headers = { authorization: `Bearer ${options.relayToken}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(event) };
    return fetch(`${url}/channels/${event.channel}/main/events`, request);
  };

  const deliver = async (event: unknown): Promise<void> => {
    // Now and then the platform delivers before its first try was answered, or once more after it was.
    if (random.chance(0.1)) later(post(event));
    while (!(await post(event))) await sleep(AGAIN_MS);
    if (random.chance(0.2)) later(sleep(random.int(0, 400)).then(() => post(event)));
  };

  const later = (work: Promise<unknown>): void => {
    background.add(work);
    void work.finally(() => background.delete(work));
  };

  const kindIn = (session: number): Kind => {
    const all = kindsOf(session).filter((kind) => !options.without.includes(kind));
    const wanted = all.filter((kind) => options.only?.includes(kind) ?? true);
    const [first = "plain", ...others] = wanted.length === 0 ? all : wanted;
    return random.pick([first, ...others]);
  };

  const converse = async (session: number, tell: (tag: Tag) => Promise<void>): Promise<void> => {
    const waiting: string[] = [];
    for (let number = 1; !finishing; number++) {
      const tag: Tag = { session, number, kind: kindIn(session) };
      await tell(tag);
      acknowledged.push(tag);
      waiting.push(nameOf(tag));
      await sleep(random.int(0, options.pauseMs));
      // What is said meanwhile would join the run of what was scheduled, and have its rights.
      const wake = heardText("wake", nameOf(tag));
      while (!finishing && tag.kind === "schedule" && !options.answered(wake)) await sleep(10);
      while (!finishing && waiting.filter((name) => !options.answered(name)).length >= options.ahead)
        await sleep(10);
    }
  };

  /** As people do it who change their minds: at once, or when the answer is under way, or later. */
  const changeMind = async (channel: RelayName, tag: Tag): Promise<void> => {
    if (tag.kind !== "plain" || !random.chance(0.4)) return;
    await sleep(random.int(0, 120));
    const type = random.chance(0.65) ? "edited" : "deleted";
    await deliver(relayedOf(channel, tag, type));
    (type === "edited" ? edits : deletions).push({ name: nameOf(tag), at: Date.now() });
  };

  const kindOn = (session: number): Kind => {
    const wish = options.wish();
    return wish !== undefined && random.chance(0.5) ? wish : kindIn(session);
  };

  const converseOn = async (channel: RelayName, session: number): Promise<void> => {
    let waiting: string[] = [];
    for (let number = 1; !finishing; number++) {
      const tag: Tag = { session, number, kind: kindOn(session) };
      await deliver(relayedOf(channel, tag, "message"));
      acknowledged.push(tag);
      await changeMind(channel, tag);
      if (!isCommand(tag.kind)) waiting.push(nameOf(tag));
      await sleep(random.int(0, 2 * options.pauseMs));
      const since = performance.now();
      while (!finishing && waiting.filter((name) => !options.answered(name)).length >= options.ahead) {
        await sleep(10);
        if (performance.now() - since > PATIENCE_MS) waiting = [];
      }
    }
  };

  const chatter = async (): Promise<void> => {
    for (let number = 1; !finishing; number++) {
      const id = `om_chatter_${number}`;
      const event = textMessage("not for you", {
        eventId: `ev_chatter_${number}`,
        messageId: id,
        chatId: "oc_chatter",
        chatType: "group",
        senderId: "ou_chatter",
      });
      await deliver(event);
      unaddressed.push(id);
      await sleep(random.int(20, 200));
    }
  };

  const people = Promise.all([
    chatter(),
    ...Array.from({ length: options.sessions }, (_, session) =>
      converse(session, (tag) => deliver(eventOf(feishu, tag))),
    ),
    ...[...options.vendors].map(([session, vendor]) => converse(session, (tag) => vendor.deliver(tag))),
    ...RELAY_SESSIONS.flatMap((session) => {
      const channel = relayOf(session);
      return channel === undefined ? [] : [converseOn(channel, session)];
    }),
  ]);
  return {
    acknowledged,
    unaddressed,
    edits,
    deletions,
    odd,
    deliveries: () => deliveries,
    async finish() {
      finishing = true;
      await people;
      await Promise.all(background);
    },
  };
}

function isRelayed(event: unknown): event is Relayed {
  return typeof event === "object" && event !== null && "channel" in event;
}
