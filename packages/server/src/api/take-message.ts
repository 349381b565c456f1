import type { MessageAccepted, Problem, SendFrame } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import type { Submitted } from "../service.ts";

/** Why a message was not taken. */
type Refusal = "unknown_agent" | Extract<Submitted, { kind: "refused" }>["code"];

type Taken =
  | { readonly kind: "accepted"; readonly accepted: MessageAccepted }
  | { readonly kind: "refused"; readonly problem: Problem & { readonly code: Refusal } };

/** Takes a message to an agent, over whichever way it came. */
export async function takeMessage(
  service: ScopedService,
  { id, agent, conversation, text, attachments: uploads = [] }: SendFrame,
): Promise<Taken> {
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
