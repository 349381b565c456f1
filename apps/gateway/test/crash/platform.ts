import { setTimeout as sleep } from "node:timers/promises";
import { type FeishuStandIn, groupMention, textMessage } from "@signalbox/testkit/feishu";
import { isGroup, kindsOf, nameOf, type Tag, textOf } from "./conversation.ts";
import type { Random } from "./random.ts";

export interface PlatformOptions {
  readonly feishu: FeishuStandIn;
  readonly random: Random;
  readonly sessions: number;
  /** Messages of one session that wait for their answer at most. */
  readonly ahead: number;
  /** Longest pause of a person between two messages, in milliseconds. */
  readonly pauseMs: number;
  /** Where the gateway listens just now. */
  readonly url: () => string | undefined;
  /** Whether a message has its answer or will get none. */
  readonly answered: (name: string) => boolean;
}

/** People who write, and a platform that delivers each event until it is acknowledged, some of them again after that. */
export interface Platform {
  /** Every message whose event was acknowledged, in the order in which that happened. */
  readonly acknowledged: readonly Tag[];
  /** Messages of a group that speak to nobody. */
  readonly unaddressed: readonly string[];
  /** Answers that were neither an acknowledgement nor a refusal to try later. */
  readonly odd: readonly string[];
  readonly deliveries: () => number;
  /** No new messages from now on; resolves when every event that was sent is acknowledged. */
  finish(): Promise<void>;
}

/** Feishu's own limit for an answer to an event. */
const ACK_MS = 3_000;
const AGAIN_MS = 40;

/** What the bot has said there and not taken back, as it reads now. */
export function standing({ sent }: FeishuStandIn): { messageId: string; chatId: string; content: string }[] {
  return sent
    .filter((one) => !one.deleted)
    .map(({ messageId, chatId, content, edits }) => ({
      messageId,
      chatId,
      content: edits.at(-1) ?? content,
    }));
}

export function messageId(name: string): string {
  return `om_${name.replace(".", "_")}`;
}

export function chatOf(session: number): string {
  return `oc_session_${session}`;
}

export function senderOf(session: number): string {
  return `ou_person_${session}`;
}

function eventOf(feishu: FeishuStandIn, tag: Tag): unknown {
  const name = nameOf(tag);
  const options = {
    eventId: `ev_${name}`,
    messageId: messageId(name),
    chatId: chatOf(tag.session),
    senderId: senderOf(tag.session),
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

  /** Whether the event was acknowledged. */
  const post = async (event: unknown): Promise<boolean> => {
    const url = options.url();
    if (url === undefined) return false;
    deliveries++;
    const answer = feishu
      .postEvent(`${url}/channels/feishu/main/events`, event)
      .then(async (response) => {
        await response.arrayBuffer();
        if (![200, 500, 503].includes(response.status)) odd.push(`${response.status} for an event`);
        return response.status === 200;
      })
      .catch(() => false);
    return Promise.race([answer, sleep(ACK_MS, false, { ref: false })]);
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

  const converse = async (session: number): Promise<void> => {
    const waiting: string[] = [];
    for (let number = 1; !finishing; number++) {
      const tag: Tag = { session, number, kind: random.pick(kindsOf(session)) };
      await deliver(eventOf(feishu, tag));
      acknowledged.push(tag);
      waiting.push(nameOf(tag));
      await sleep(random.int(0, options.pauseMs));
      while (!finishing && waiting.filter((name) => !options.answered(name)).length >= options.ahead)
        await sleep(10);
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
    ...Array.from({ length: options.sessions }, (_, session) => converse(session)),
  ]);
  return {
    acknowledged,
    unaddressed,
    odd,
    deliveries: () => deliveries,
    async finish() {
      finishing = true;
      await people;
      await Promise.all(background);
    },
  };
}
