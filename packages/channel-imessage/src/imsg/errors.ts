import { type ErrorMeaning, isPayload, type JsonRpcError } from "@signalbox/channel";

const FULL_DISK_ACCESS =
  "imsg cannot read the database of Messages. Grant Full Disk Access to the program that starts imsg (System Settings > Privacy & Security), for ssh to sshd-keygen-wrapper";
const AUTOMATION =
  "imsg may not control Messages. Allow it under System Settings > Privacy & Security > Automation, and sign in to Messages";

/**
 * Interprets an error of imsg. Since 0.14, failed sends have a disposition; before that, they have only a message.
 * Source: `docs/rpc.md` of imsg.
 */
export function readImsgError({ code, message, data }: JsonRpcError): ErrorMeaning {
  const isSafe = isPayload(data) && data["retry_safe"] === true;
  switch (code) {
    case -32_000:
      return { code: "rate_limited", scope: "account", retryAfterMs: 1_000 };
    case -32_001:
      return { code: isSafe ? "transient" : "unknown_outcome" };
    case -32_002:
      return { code: "auth", scope: "account", reason: FULL_DISK_ACCESS };
    case -32_003:
      return { code: "unsupported", reason: `${message}. Start the bridge with \`imsg launch\`` };
    case -32_004:
      return {
        code: "transient",
        scope: "account",
        reason: `${message}. Restart the gateway to start imsg again`,
      };
    case -32_601:
      return { code: "unsupported", reason: `${message}. Update imsg` };
    case -32_602:
      return { code: /unknown chat|no chat|not found/i.test(message) ? "not_found" : "invalid" };
    default:
      return readMessage(message);
  }
}

function readMessage(message: string): ErrorMeaning {
  if (/full disk access|authorization denied|unable to open database|chat\.db/i.test(message))
    return { code: "auth", scope: "account", reason: FULL_DISK_ACCESS };
  if (/-1743|not authori[sz]ed to send apple events|automation/i.test(message))
    return { code: "auth", scope: "account", reason: AUTOMATION };
  if (/bridge|imcore|private api|not injected/i.test(message)) return { code: "unsupported" };
  // The message may have been sent before the error.
  return { code: "unknown_outcome" };
}
