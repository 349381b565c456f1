import {
  type ChannelContext,
  ChannelError,
  type ChannelErrorCode,
  isChannelError,
  isRetryable,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { DingTalkAddress } from "../address.ts";
import type { DingTalkApi } from "../api.ts";
import { limits } from "../limits.ts";
import { createCardNotes } from "./card-notes.ts";

/**
 * DingTalk's public template for answers of AI assistants, and the name of the field that is streamed. Source:
 * DingTalk's connector for OpenClaw.
 */
const TEMPLATE = "02fcf2f4-5e02-4a85-b672-46d1f715543e.schema";
const FIELD = "msgContent";

/** The template's `flowStatus` while text is written, and at the end. */
const WRITING = "2";
const FINISHED = "3";

/** The text of a card. */
export interface CardText {
  readonly markdown: string;
  /** True if the text is complete. DingTalk then shows the card as finished. */
  readonly isFinal: boolean;
  /** Default: none. */
  readonly buttons?: readonly object[];
}

/** Cards of an account. All methods throw only `ChannelError`. */
export interface Cards {
  /**
   * Creates a card under the id `outTrackId`, or finds the one that an earlier attempt has created, also if its
   * response was lost. The existing one shows the new text.
   */
  create(to: DingTalkAddress, outTrackId: string, text: CardText, signal: AbortSignal): Promise<void>;
  change(outTrackId: string, text: CardText, signal: AbortSignal): Promise<void>;
  /** Returns the id of the message that shows a card, if it is known. */
  carrier(outTrackId: string): Promise<string | undefined>;
}

/** Prefix of the ids of cards, by which they differ from the ids of messages. */
const PREFIX = "signalbox-";

export function createCardId(key: string): string {
  return PREFIX + key;
}

export function isCardId(messageId: string): boolean {
  return messageId.startsWith(PREFIX);
}

/** Errors that mean that a change was refused because the card does not exist. */
const ABSENT: readonly ChannelErrorCode[] = ["not_found", "invalid"];

export function createCards(
  context: Pick<ChannelContext, "state" | "clock" | "logger">,
  api: DingTalkApi,
): Cards {
  const { clock, logger } = context;
  const notes = createCardNotes(context, api.robotCode);
  /** Time until which no card is created, because the app lacks a permission. */
  let refusedUntil = 0;
  let guids = 0;

  async function create(
    to: DingTalkAddress,
    outTrackId: string,
    text: CardText,
    signal: AbortSignal,
  ): Promise<void> {
    // An earlier attempt may have created the card. A second one under the same id could show it twice.
    if ((await notes.begin(outTrackId)) && (await exists(outTrackId, text, signal))) return;
    try {
      await deliver(to, outTrackId, text, signal);
    } catch (error) {
      if (!isRepetition(error)) throw error;
      await change(outTrackId, text, signal);
    }
  }

  async function deliver(
    to: DingTalkAddress,
    outTrackId: string,
    text: CardText,
    signal: AbortSignal,
  ): Promise<void> {
    if (clock.now() < refusedUntil)
      throw new ChannelError("permission", "DingTalk: the app may not create cards (see `signalbox doctor`)");
    const request = api.call({
      what: "creating a card",
      path: "/v1.0/card/instances/createAndDeliver",
      body: {
        cardTemplateId: TEMPLATE,
        outTrackId,
        callbackType: "STREAM",
        userIdType: 1,
        cardData: { cardParamMap: createParameters(text) },
        ...createPlace(api.robotCode, to),
      },
      write: true,
      signal,
    });
    const answer = await request.catch((error: unknown) => {
      if (isChannelError(error) && error.code === "permission") pause(error);
      throw error;
    });
    const [result = {}] = objectsAt(objectAt(answer, "result"), "deliverResults");
    if (result["success"] === false)
      throw new ChannelError(
        "invalid",
        `DingTalk: creating a card: ${textAt(result, "errorMsg") ?? "not delivered"}`,
      );
    const carrierId = textAt(result, "carrierId");
    if (carrierId !== undefined) await notes.setCarrier(outTrackId, carrierId);
  }

  function pause({ message }: Error): void {
    refusedUntil = clock.now() + limits.cardsRefusedMs;
    logger.warn("answers are not streamed: the app lacks the permissions for cards", { reason: message });
  }

  async function exists(outTrackId: string, text: CardText, signal: AbortSignal): Promise<boolean> {
    try {
      await change(outTrackId, text, signal);
      return true;
    } catch (error) {
      if (isChannelError(error) && ABSENT.includes(error.code)) return false;
      // The change did not reach the card, so it is unknown whether the card exists.
      throw isChannelError(error) && error.code === "transient"
        ? new ChannelError("unknown_outcome", error.message, { scope: error.scope, cause: error })
        : error;
    }
  }

  async function change(outTrackId: string, text: CardText, signal: AbortSignal): Promise<void> {
    if (!text.isFinal) return stream(outTrackId, text, signal);
    // DingTalk refuses to end a stream that was never begun or has ended already.
    await stream(outTrackId, text, signal).catch((error: unknown) => {
      if (isRetryable(error)) throw error;
    });
    await api.call({
      what: "finishing a card",
      method: "PUT",
      path: "/v1.0/card/instances",
      body: {
        outTrackId,
        cardData: { cardParamMap: createParameters(text) },
        cardUpdateOptions: { updateCardDataByKey: true },
      },
      // The same change again has no effect.
      write: false,
      signal,
    });
  }

  async function stream(
    outTrackId: string,
    { markdown, isFinal }: CardText,
    signal: AbortSignal,
  ): Promise<void> {
    guids += 1;
    await api.call({
      what: "writing to a card",
      method: "PUT",
      path: "/v1.0/card/streaming",
      body: {
        outTrackId,
        guid: `${clock.now()}-${guids}`,
        key: FIELD,
        content: markdown,
        isFull: true,
        isFinalize: isFinal,
        isError: false,
      },
      write: false,
      signal,
    });
  }

  return {
    create,
    change,
    carrier: (outTrackId) => notes.getCarrier(outTrackId),
  };
}

/** The template accepts only texts, also for numbers and objects. */
function createParameters({ markdown, isFinal, buttons }: CardText): Readonly<Record<string, string>> {
  const layout =
    buttons === undefined ? { order: [FIELD] } : { order: [FIELD, "msgButtons"], msgButtons: buttons };
  return {
    flowStatus: isFinal ? FINISHED : WRITING,
    [FIELD]: markdown,
    staticMsgContent: "",
    sys_full_json_obj: JSON.stringify(layout),
    config: JSON.stringify({ autoLayout: true }),
  };
}

function createPlace(robotCode: string, to: DingTalkAddress): Payload {
  if ("userId" in to)
    return {
      openSpaceId: `dtv1.card//IM_ROBOT.${to.userId}`,
      imRobotOpenSpaceModel: { supportForward: true },
      imRobotOpenDeliverModel: { spaceType: "IM_ROBOT", robotCode, extension: { dynamicSummary: "true" } },
    };
  return {
    openSpaceId: `dtv1.card//IM_GROUP.${to.conversationId}`,
    imGroupOpenSpaceModel: { supportForward: true },
    imGroupOpenDeliverModel: { robotCode },
  };
}

/** Returns true if DingTalk refused a card because its `outTrackId` is in use. */
function isRepetition(error: unknown): boolean {
  return (
    isChannelError(error) &&
    /outTrackId/i.test(error.message) &&
    /repeat|duplicate|exist/i.test(error.message)
  );
}
