/** A check of the sign-in, the change of the sources that removes it, and an attack that succeeds without it. */
export interface SignInDefence {
  readonly name: string;
  /** Attack that must succeed. */
  readonly attack: string;
  /** File under `packages/server/src`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const DEFENCES: readonly SignInDefence[] = [
  {
    name: "a sign-in belongs to one browser",
    attack: "CSRF: a page ends the attacker's sign-in in another browser",
    file: "auth/oidc/oidc-sign-in.ts",
    from: "if (pending === undefined || pending.browser !== hashToken(browser))",
    to: "if (pending === undefined)",
  },
  {
    name: "the link of the callback belongs to one browser",
    attack: "CSRF: a link with the attacker's session",
    file: "auth/sign-in-links.ts",
    from: "return isBrowser ? link : undefined;",
    to: "return link;",
  },
  {
    name: "only the gateway's page starts a sign-in",
    attack: "CSRF: a page of another site starts a sign-in",
    file: "app.ts",
    from: 'app.use("/api/*", requireOwnOrigin(allowedHosts, apiErrors));',
    to: "",
  },
  {
    name: "a state is used once",
    attack: "a replayed state",
    file: "auth/oidc/pending-sign-ins.ts",
    from: "if (pending === undefined || !(await kv.delete(NAMESPACE, key))) return undefined;",
    to: "if (pending === undefined) return undefined;",
  },
  {
    name: "the link of the callback is used once",
    attack: "a replayed link",
    file: "auth/sign-in-links.ts",
    from: "!(await kv.delete(namespace, id))",
    to: "false",
  },
  {
    name: "nobody can guess a nonce",
    attack: "an ID token with a known nonce",
    file: "auth/oidc/oidc-sign-in.ts",
    from: "client.randomNonce()",
    to: '"known"',
  },
  {
    name: "the signature of an ID token is verified",
    attack: "an ID token with a foreign key",
    file: "auth/oidc/provider.ts",
    from: "client.enableNonRepudiationChecks,",
    to: "",
  },
  {
    name: "an access token is for this gateway",
    attack: "an ID token as an access token",
    file: "auth/oidc/tokens.ts",
    from: "    audience,\n",
    to: "",
  },
  {
    name: "other tokens of the provider are no access tokens",
    attack: "a logout token as an access token",
    file: "auth/oidc/tokens.ts",
    from: "if (isOther || sub",
    to: "if (sub",
  },
  {
    name: "an access token opens no lasting session",
    attack: "a sign-in link from an access token",
    file: "api/sign-in.ts",
    from: "|| access.expiresAt !== undefined",
    to: "",
  },
  {
    name: "the browser returns to the gateway only",
    attack: "open redirect: another site",
    file: "auth/oidc/oidc-sign-in.ts",
    from: "url?.origin === origin ? origin + url.pathname + url.search",
    to: "url !== null ? url.href",
  },
  {
    name: "the address of the return is complete",
    attack: "open redirect: a path that looks like a host",
    file: "auth/oidc/oidc-sign-in.ts",
    from: "? origin + url.pathname",
    to: "? url.pathname",
  },
  {
    name: "newer groups replace older ones",
    attack: "an old access token with a removed group",
    file: "auth/external-people.ts",
    from: "if (known !== undefined && known.asOf > asOf) return known;",
    to: "",
  },
  {
    name: "groups are read at each sign-in",
    attack: "a session after a sign-in without the group",
    file: "auth/external-people.ts",
    from: "if (!isSame) await kv.set(NAMESPACE, tokenHash, person);",
    to: "if (known === undefined) await kv.set(NAMESPACE, tokenHash, person);",
  },
  {
    name: "the settings decide the role",
    attack: "a session of a group that has no role any more",
    file: "auth/external-people.ts",
    from: "      if (role === undefined) return undefined;\n      if (entry.role",
    to: "      if (role === undefined) return { name: entry.name, role: entry.role };\n      if (entry.role",
  },
  {
    name: "the name of a person depends on the subject",
    attack: "the user name of another person",
    file: "auth/external-people.ts",
    from: "-${hashSubject(issuer, subject).slice(0, 12)}",
    to: "-x",
  },
  {
    name: "sensitive changes need a recent authentication",
    attack: "a sensitive change with an old authentication",
    file: "auth/browser-sign-ins.ts",
    from: "return Math.min(createdAt, details?.authenticatedAt ?? 0);",
    to: "return createdAt;",
  },
  {
    name: "a logout token is used once",
    attack: "a replayed logout token",
    file: "auth/oidc/oidc-sign-in.ts",
    from: "if ((await kv.get(NOTICES, key)) !== undefined) return undefined;",
    to: "",
  },
  {
    name: "only a logout token ends sessions",
    attack: "an ID token as a logout token",
    file: "auth/oidc/tokens.ts",
    from: 'hasLogoutEvent(payload) && payload["nonce"] === undefined',
    to: "true",
  },
  {
    name: "headers count only from the proxy",
    attack: "proxy headers from another address",
    file: "auth/proxy-identity.ts",
    from: "if (!isTrusted(remote, settings.addresses)) return undefined;",
    to: "",
  },
  {
    name: "headers count only with the secret",
    attack: "proxy headers without the secret",
    file: "auth/proxy-identity.ts",
    from: 'isSameSecret(readHeader(headers, SECRET_HEADER) ?? "", secret)',
    to: "isSameSecret(secret, secret)",
  },
  {
    name: "repeated headers are refused",
    attack: "proxy headers that the proxy appends to",
    file: "api/sign-in.ts",
    from: "headers: context.env.incoming.headersDistinct,",
    to: "headers: context.env.incoming.headers,",
  },
  {
    name: "a session needs the headers of its user",
    attack: "a proxied session without its headers",
    file: "auth/auth.ts",
    from: 'getTokenKind(tokenHash) === "proxy" && !(await this.#isStillNamed(tokenHash, request))',
    to: "this.#isStillNamed === undefined",
  },
];
