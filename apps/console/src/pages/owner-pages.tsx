import type { Client } from "@signalbox/client";
import type { ReactNode } from "react";
import type { Place } from "../place.ts";
import { ApprovalsPage } from "./approvals-page.tsx";
import { ChannelsPage } from "./channels-page.tsx";
import { MessagePage } from "./message-page.tsx";
import { MessagesPage } from "./messages-page.tsx";
import { PeoplePage } from "./people-page.tsx";
import { SessionsPage } from "./sessions-page.tsx";

interface Props {
  client: Client;
  place: Exclude<Place, { page: "chat" }>;
}

/** What owners see of the gateway besides the chat. */
export function OwnerPages({ client, place }: Props): ReactNode {
  switch (place.page) {
    case "sessions":
      return <SessionsPage client={client} />;
    case "messages":
      return <MessagesPage client={client} session={place.session} />;
    case "message":
      return <MessagePage key={place.id} client={client} id={place.id} />;
    case "approvals":
      return <ApprovalsPage client={client} />;
    case "people":
      return <PeoplePage client={client} />;
    case "channels":
      return <ChannelsPage client={client} />;
  }
}
