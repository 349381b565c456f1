import { createHash } from "node:crypto";
import type { TokenRole } from "@signalbox/protocol";
import type { AccessStore, KvStore } from "@signalbox/store/types";
import { z } from "zod";
import type { Principal } from "./access.ts";
import type { SignInSettings } from "./sign-in-settings.ts";

/** A person whom an OpenID provider or a trusted proxy has authenticated. */
export interface ExternalIdentity {
  readonly kind: "oidc" | "proxy";
  /** URL of the provider. Empty for a proxy. */
  readonly issuer: string;
  /** Identifies the person at the issuer, and never changes. */
  readonly subject: string;
  /** Only used to form the name. The person may be able to choose it. */
  readonly username: string;
  readonly groups: readonly string[];
  /** Time at which the groups were correct, in milliseconds since the epoch. */
  readonly asOf: number;
}

/** A person with a role. */
export interface AdmittedPerson {
  readonly principal: Principal;
  /** Key of the person's sessions. No token has this hash. */
  readonly tokenHash: string;
}

/**
 * People who are authenticated outside the gateway. Each is an entry among the tokens, so that roles, revocation and
 * the rights of runs work as for the holder of a token. The role follows from the groups and the current settings.
 */
export interface ExternalPeople {
  /** Records the groups of a person. Returns undefined, and ends the sessions, if no group has a role. */
  admit(identity: ExternalIdentity): Promise<AdmittedPerson | undefined>;
  /** Returns the person with this key and the role in effect, unless the person was revoked or has no role. */
  find(tokenHash: string): Promise<Principal | undefined>;
  /** Applies changed settings to all people: updates roles, and ends the sessions of people without a role. */
  applySettings(): Promise<void>;
}

export interface ExternalPeopleOptions {
  readonly tokens: AccessStore["tokens"];
  readonly kv: Pick<KvStore, "get" | "set" | "list">;
  readonly settings: () => SignInSettings;
  readonly now: () => number;
}

const NAMESPACE = "external-people";
/** Groups that have not changed are stored again after this time. */
const TOUCH_MS = 60_000;

const personSchema = z.object({
  kind: z.enum(["oidc", "proxy"]),
  issuer: z.string(),
  name: z.string(),
  groups: z.array(z.string()),
  asOf: z.number(),
});
type StoredPerson = z.infer<typeof personSchema>;

/** Returns the kind of entry among the tokens. Hashes of tokens are hexadecimal and contain no colon. */
export function getTokenKind(tokenHash: string): "token" | "oidc" | "proxy" {
  if (tokenHash.startsWith("oidc:")) return "oidc";
  return tokenHash.startsWith("proxy:") ? "proxy" : "token";
}

/** Returns the key of a person's sessions. */
export function getPersonKey({
  kind,
  issuer,
  subject,
}: Pick<ExternalIdentity, "kind" | "issuer" | "subject">): string {
  return `${kind}:${hashSubject(issuer, subject)}`;
}

export function createExternalPeople(options: ExternalPeopleOptions): ExternalPeople {
  const { tokens, kv, settings, now } = options;
  let applied: string | undefined;

  const read = async (tokenHash: string): Promise<StoredPerson | undefined> =>
    personSchema.safeParse(await kv.get(NAMESPACE, tokenHash)).data;

  /** Returns the newest groups of a person, and stores them. */
  const update = async (identity: ExternalIdentity, tokenHash: string): Promise<StoredPerson> => {
    const { kind, issuer, groups, asOf } = identity;
    const known = await read(tokenHash);
    // An access token may be older than the last sign-in, and name a group that was removed since.
    if (known !== undefined && known.asOf > asOf) return known;
    const person = { kind, issuer, name: known?.name ?? createName(identity), groups: [...groups], asOf };
    const isSame = known !== undefined && isSameList(known.groups, groups) && asOf - known.asOf < TOUCH_MS;
    if (!isSame) await kv.set(NAMESPACE, tokenHash, person);
    return person;
  };

  const revoke = async (tokenHash: string): Promise<void> => {
    const entry = await tokens.find(tokenHash);
    if (entry !== undefined) await tokens.revoke(entry.name);
  };

  return {
    async admit(identity) {
      const tokenHash = getPersonKey(identity);
      const person = await update(identity, tokenHash);
      const role = getRole(settings(), person);
      if (role === undefined) {
        await revoke(tokenHash);
        return undefined;
      }
      const { name } = person;
      const entry = await tokens.find(tokenHash);
      if (entry === undefined) await tokens.add({ name, role, hash: tokenHash, createdAt: now() });
      else if (entry.role !== role) await tokens.setRole(tokenHash, role);
      // A token may have the name already. The person must not get its conversations.
      if ((await tokens.named(name))?.hash !== tokenHash) return undefined;
      return { principal: { name, role }, tokenHash };
    },
    async find(tokenHash) {
      const [entry, person] = await Promise.all([tokens.find(tokenHash), read(tokenHash)]);
      if (entry === undefined || person === undefined) return undefined;
      const role = getRole(settings(), person);
      if (role === undefined) return undefined;
      if (entry.role !== role) await tokens.setRole(tokenHash, role);
      return { name: entry.name, role };
    },
    async applySettings() {
      const current = JSON.stringify(settings());
      if (current === applied) return;
      for (const { key, value } of await kv.list(NAMESPACE)) {
        const person = personSchema.safeParse(value).data;
        const role = person && getRole(settings(), person);
        if (role === undefined) await revoke(key);
        else await tokens.setRole(key, role);
      }
      applied = current;
    },
  };
}

/** Returns the first role, in the order of the settings, that one of the person's groups has. */
function getRole(
  { roles, oidc, proxy }: SignInSettings,
  { kind, issuer, groups }: Pick<StoredPerson, "kind" | "issuer" | "groups">,
): TokenRole | undefined {
  if (kind === "oidc" ? oidc?.issuer !== issuer : proxy === undefined) return undefined;
  return ROLES.find((role) => roles[role].some((group) => groups.includes(group)));
}

const ROLES = ["owner", "operator", "viewer", "member", "monitor"] as const satisfies readonly TokenRole[];

const MAX_SLUG_CHARS = 40;

/**
 * Creates the name of a person for conversations and the audit log. The suffix is a hash of issuer and subject, because
 * people may choose the user name of another person.
 */
function createName({ issuer, subject, username }: ExternalIdentity): string {
  const slug = (username.split("@")[0] ?? "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, "")
    .slice(0, MAX_SLUG_CHARS);
  return `${slug === "" ? "person" : slug}-${hashSubject(issuer, subject).slice(0, 12)}`;
}

function hashSubject(issuer: string, subject: string): string {
  return createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest("hex");
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((group) => b.includes(group));
}
