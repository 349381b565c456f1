import {
  type ActionEvent,
  type EventFacts,
  eventBase,
  objectAt,
  type Payload,
  parsePayload,
  textAt,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";
import { readButton } from "../outbound/buttons.ts";

/**
 * Reads a click on a button of a card. Returns `undefined` if this channel did not create the button.
 *
 * @param frameId id of the frame, because DingTalk gives clicks no id
 */
export function readClick(click: Payload, frameId: string, facts: EventFacts): ActionEvent | undefined {
  const { actionIds } = objectAt(
    parsePayload(textAt(click, "content") ?? textAt(click, "value") ?? "") ?? {},
    "cardPrivateData",
  );
  const button = readButton(Array.isArray(actionIds) ? actionIds[0] : undefined);
  const userId = textAt(click, "userId");
  const messageId = textAt(click, "outTrackId");
  if (button === undefined || userId === undefined || messageId === undefined) return undefined;
  const spaceId = textAt(click, "spaceId");
  const isGroup = textAt(click, "spaceType")?.toUpperCase() === "IM_GROUP" && spaceId !== undefined;
  return {
    ...eventBase("dingtalk", facts, {
      eventId: `click ${frameId}`,
      conversation: { id: spaceId ?? userId, kind: isGroup ? "group" : "direct" },
      address: addressCodec.encode(isGroup ? { conversationId: spaceId } : { userId }),
      sender: { id: userId, isBot: false, isSelf: false },
      payload: click,
    }),
    type: "action",
    messageId,
    actionId: button.id,
    value: button.value,
  };
}
