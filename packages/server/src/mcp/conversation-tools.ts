import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import type { McpToolContext } from "./tool-context.ts";
import { runTool } from "./tool-text.ts";

const MAX_LISTED = 100;
/** Maximum length of a message to a person, in UTF-16 code units. */
const MAX_TEXT = 20_000;

/** Adds `list_conversations` and `send_message`. */
export function addConversationTools(
  server: McpServer,
  { service, scoped, principal, may }: McpToolContext,
): void {
  if (may("read") || may("chat"))
    server.registerTool(
      "list_conversations",
      {
        description: may("read")
          ? "Lists the conversations of all channels, latest first: key, channel, kind, peer and title."
          : "Lists your conversations on the web page, latest first: id, title and agent.",
        annotations: { readOnlyHint: true },
      },
      () =>
        runTool(async () => {
          const lines = may("read")
            ? (await service.sessions()).map(({ key, channel, account, kind, peer, title, updatedAt }) =>
                [key, `${channel}/${account}`, kind, peer, title ?? [], new Date(updatedAt).toISOString()]
                  .flat()
                  .join(" · "),
              )
            : (await scoped.conversations()).map(({ id, title, agent }) => [id, title, agent].join(" · "));
          return lines.length === 0 ? "There are no conversations." : lines.slice(0, MAX_LISTED).join("\n");
        }),
    );
  if (may("owner"))
    server.registerTool(
      "send_message",
      {
        description:
          "Sends a text to the person or group of a conversation, in the name of the bot. No agent answers it.",
        inputSchema: {
          conversation: z
            .string()
            .min(1)
            .max(500)
            .describe("Key of the conversation, from list_conversations."),
          text: z.string().min(1).max(MAX_TEXT).describe("The text, as Markdown."),
        },
        annotations: { destructiveHint: false, openWorldHint: true },
      },
      ({ conversation, text }) =>
        runTool(async () => {
          await service.sendMessage(conversation, text, `token ${principal.name}`);
          return "The message is in the outbox.";
        }),
    );
}
