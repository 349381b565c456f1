import { formatCodeBlock } from "@signalbox/tools";
import type { GatewayContext } from "../context.ts";
import type { AskedCommand } from "./command.ts";

/**
 * Maximum length of content that is shown in a chat, in UTF-16 code units. Longer content is trusted on the command
 * line.
 */
const MAX_SHOWN = 8_000;

/** `/trust <file>` shows the contents of a file. `/trust <file> <digest>` trusts exactly that version. */
export async function answerTrust(
  ctx: GatewayContext,
  { message, agent, args, phrases }: AskedCommand,
  owner: string,
): Promise<string> {
  if (args === "") return phrases.sayWhichFile;
  const [, path = args, digest] = /^(.*\S)\s+([0-9a-f]{32})$/s.exec(args) ?? [];
  const result = await ctx.trust(agent, { path, digest }, phrases);
  if (result.ok) {
    ctx.audit.trusted(agent.id, result.path, owner);
    return phrases.trusted(result.path);
  }
  const { review } = result;
  if (review === undefined) return result.message;
  // Other members of a group may not be allowed to see the file.
  if (message.stored.event.conversation.kind !== "direct") return phrases.trustInPrivate(path);
  if (review.content.length > MAX_SHOWN) return phrases.trustOnMachine(path);
  return `${result.message}\n${formatCodeBlock(review.content)}\n/trust ${path} ${review.digest}`;
}
