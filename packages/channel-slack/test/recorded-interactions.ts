import type { RecordedPayload } from "@signalbox/channel/testkit";
import { ts } from "./recorded-callback.ts";

/** Clicks and commands. */
export const interactions: readonly RecordedPayload[] = [
  {
    name: "button",
    payload: {
      type: "interactive",
      body: {
        type: "block_actions",
        user: { id: "U_ANN", username: "ann", name: "ann", team_id: "T061EG9R6" },
        api_app_id: "A0MDYCDME",
        token: "9s8d9as89d8as9d8as989",
        container: { type: "message", message_ts: ts, channel_id: "C024BE91L", is_ephemeral: false },
        trigger_id: "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
        team: { id: "T061EG9R6", domain: "team" },
        enterprise: null,
        is_enterprise_install: false,
        channel: { id: "C024BE91L", name: "general" },
        message: {
          type: "message",
          bot_id: "B_BOT",
          text: "?",
          user: "U_BOT",
          ts,
          thread_ts: "1767225500.000100",
        },
        response_url: "https://hooks.slack.com/actions/AABA1ABCD/1232321423432/D09sSasdasdAS9091209",
        actions: [
          {
            action_id: "0:approve",
            block_id: "Qjkd",
            text: { type: "plain_text", text: "Yes" },
            value: '{"id":7}',
            type: "button",
            action_ts: "1767225660.000100",
          },
        ],
      },
    },
    events: [
      {
        type: "action",
        eventId: "action:12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
        actionId: "approve",
        value: { id: 7 },
        messageId: `C024BE91L:${ts}`,
        address: "slack:C024BE91L/1767225500.000100",
        sender: { id: "U_ANN", isBot: false },
        timestamp: 1767225660000,
      },
    ],
  },
  {
    name: "shortcut",
    payload: {
      type: "interactive",
      body: { type: "shortcut", callback_id: "x", trigger_id: "1.2", user: { id: "U_ANN" } },
    },
    events: [],
  },
  {
    name: "command",
    payload: {
      type: "slash_commands",
      body: {
        token: "gIkuvaNzQIHg97ATvDxqgjtO",
        team_id: "T061EG9R6",
        team_domain: "example",
        enterprise_id: "E0001",
        channel_id: "D024BE91L",
        channel_name: "directmessage",
        user_id: "U_ANN",
        user_name: "ann",
        command: "/signalbox",
        text: "Status  of all ",
        response_url: "https://hooks.slack.com/commands/1234/5678",
        trigger_id: "13345224609.738474920.8088930838d88f008e0",
        api_app_id: "A0MDYCDME",
      },
    },
    events: [
      {
        type: "command",
        name: "status",
        args: "of all",
        eventId: "command:13345224609.738474920.8088930838d88f008e0",
        addressed: "dm",
        conversation: { id: "D024BE91L", kind: "direct", teamId: "T061EG9R6" },
        sender: { id: "U_ANN" },
      },
    ],
  },
];
