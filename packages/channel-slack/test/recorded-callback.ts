import type { RecordedPayload } from "@signalbox/channel/testkit";

export type Json = RecordedPayload["payload"];
export type Expected = Readonly<Record<string, unknown>>;

export const ts = "1767225599.000200";

/** An event in Slack's outer envelope. */
export function callback(
  name: string,
  event: { readonly [key: string]: Json },
  events: readonly Expected[],
): RecordedPayload {
  return {
    name,
    payload: {
      type: "events_api",
      body: {
        token: "ZZZZZZWSxiZZZ2yIvs3peJ",
        team_id: "T061EG9R6",
        context_team_id: "T061EG9R6",
        context_enterprise_id: null,
        api_app_id: "A0MDYCDME",
        type: "event_callback",
        event_id: `Ev_${name.replace(/\W+/g, "_")}`,
        event_time: 1767225600,
        event_context: "4-eyJldCI6Im1lc3NhZ2UifQ",
        authorizations: [
          {
            enterprise_id: null,
            team_id: "T061EG9R6",
            user_id: "U_BOT",
            is_bot: true,
            is_enterprise_install: false,
          },
        ],
        event: { event_ts: ts, ...event },
      },
    },
    events,
  };
}

export const inChannel = { channel: "C024BE91L", channel_type: "channel" };
