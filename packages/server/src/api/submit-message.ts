import type { MessageAccepted, Problem, SendFrame } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import type { SubmitResult } from "../service.ts";

type RefusalCode = "unknown_agent" | Extract<SubmitResult, { kind: "refused" }>["code"];

type MessageResult =
  | { readonly kind: "accepted"; readonly accepted: MessageAccepted }
  | { readonly kind: "refused"; readonly problem: Problem & { readonly code: RefusalCode } };

/** Submits a client's message, which came over HTTP or a WebSocket. */
export async function submitMessage(
  service: ScopedService,
  { id, agent, conversation, text, attachments: uploads = [] }: SendFrame,
): Promise<MessageResult> {
  if (!isAgent(service, agent)) {
    const message = `There is no agent ${agent}.`;
    return { kind: "refused", problem: { code: "unknown_agent", message } };
  }
  const submitted = await service.submit({ channel: "web", agent, conversation, id, text, uploads });
  if (submitted.kind === "refused") {
    const { code, message } = submitted;
    return { kind: "refused", problem: { code, message } };
  }
  const { kind, messageId } = submitted;
  return { kind: "accepted", accepted: { messageId, duplicate: kind === "duplicate" } };
}

export function isAgent(service: ScopedService, agent: string): boolean {
  return service.agents().some(({ id }) => id === agent);
}
