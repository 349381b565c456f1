import { type AccountCheck, isPayload, objectsAt, textAt } from "@signalbox/channel";
import type { FeishuApi } from "./api.ts";

/** What the app needs; one of several is enough. */
const PERMISSIONS: readonly { readonly anyOf: readonly string[]; readonly without: string }[] = [
  { anyOf: ["im:message", "im:message:send_as_bot"], without: "no answer can be sent" },
  { anyOf: ["im:message", "im:message:readonly"], without: "quoted and missed messages cannot be read" },
  { anyOf: ["im:resource"], without: "files are neither read nor sent" },
  { anyOf: ["im:chat:readonly", "im:chat"], without: "groups have no names" },
  { anyOf: ["cardkit:card:write"], without: "answers are not typed while they are written" },
  {
    anyOf: ["contact:user.base:readonly", "contact:contact.base:readonly"],
    without: "people have no names",
  },
];

const GRANTED = 1;

/** What the tenant has granted the app. */
export async function checkPermissions(
  api: FeishuApi,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const answer = await api.call({ what: "asking for the permissions", write: false, signal }, (client) =>
    client.request<unknown>({ method: "GET", url: "/open-apis/application/v6/scopes" }),
  );
  const data = isPayload(answer) && isPayload(answer["data"]) ? answer["data"] : {};
  const granted = new Set(
    objectsAt(data, "scopes").flatMap((scope) =>
      scope["grant_status"] === GRANTED ? (textAt(scope, "scope_name") ?? []) : [],
    ),
  );
  const missing = PERMISSIONS.filter(({ anyOf }) => !anyOf.some((name) => granted.has(name)));
  if (missing.length === 0) return [{ about: "permissions", ok: true, detail: "the app has all of them" }];
  return [
    {
      about: "permissions",
      ok: false,
      detail: `the app lacks ${missing.map(({ anyOf, without }) => `${anyOf[0]} (${without})`).join(", ")}`,
      remedy: "Add them under Permissions & Scopes of the app, and publish a version of it.",
    },
  ];
}
