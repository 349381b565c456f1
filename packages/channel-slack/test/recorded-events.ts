import type { RecordedPayload } from "@signalbox/channel/testkit";
import { callback, ts } from "./recorded-callback.ts";

/** Events other than messages. */
export const events: readonly RecordedPayload[] = [
  callback(
    "reaction",
    {
      type: "reaction_added",
      user: "U_ANN",
      reaction: "+1::skin-tone-3",
      item_user: "U_BOT",
      item: { type: "message", channel: "C024BE91L", ts },
    },
    [{ type: "reaction", messageId: `C024BE91L:${ts}`, emoji: "👍", added: true, sender: { id: "U_ANN" } }],
  ),
  callback(
    "reaction taken back, of the workspace's own",
    {
      type: "reaction_removed",
      user: "U_ANN",
      reaction: "shipit",
      item: { type: "message", channel: "D024BE91L", ts },
    },
    [{ type: "reaction", emoji: ":shipit:", added: false, addressed: "dm" }],
  ),
  callback(
    "member",
    {
      type: "member_joined_channel",
      user: "U_BOT",
      channel: "C024BE91L",
      channel_type: "C",
      team: "T061EG9R6",
    },
    [{ type: "member", change: "joined", member: { id: "U_BOT", isSelf: true } }],
  ),
  callback(
    "rename",
    { type: "channel_rename", channel: { id: "C024BE91L", name: "new-name", created: 1360782804 } },
    [
      {
        type: "lifecycle",
        what: "renamed",
        conversation: { id: "C024BE91L", subject: "new-name" },
        detail: { name: "new-name" },
      },
    ],
  ),
  callback("archive", { type: "channel_archive", channel: "C024BE91L", user: "U_ANN" }, [
    { type: "lifecycle", what: "removed" },
  ]),
  callback("unknown event", { type: "emoji_changed", subtype: "add", name: "x" }, []),
  callback(
    "the agent view is opened",
    { type: "app_home_opened", user: "U_ANN", channel: "D024BE91L", tab: "messages" },
    [],
  ),
  callback(
    "the view of older apps is opened",
    {
      type: "assistant_thread_started",
      assistant_thread: { user_id: "U_ANN", channel_id: "D024BE91L", thread_ts: ts, context: {} },
    },
    [],
  ),
];
