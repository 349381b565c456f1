/** Header of a gateway for the half of a session's credential that is not in the cookie. */
const SESSION_KEY_HEADER = "signalbox-session-key";

/** A browser at a gateway. It stores cookies by name, and the session key as the console does. */
export interface TestBrowser {
  readonly cookies: Map<string, string>;
  sessionKey: string | undefined;
  /** Sends a request as the gateway's own page does. */
  request(
    path: string,
    init?: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Response>;
  /** Starts a sign-in at the provider. Returns the address of the provider's page. */
  startOidc(body?: object): Promise<string>;
  /** Follows the link of a page of another site to the gateway. Does not follow redirects. */
  arrive(url: string): Promise<URL>;
  /** Redeems the secret in the fragment of an address, as the console does. Returns the status. */
  redeem(address: URL): Promise<number>;
}

/** @param base URL of the gateway, without a trailing slash */
export function createTestBrowser(base: string): TestBrowser {
  const browser: TestBrowser = {
    cookies: new Map(),
    sessionKey: undefined,
    async request(path, { body, headers = {} } = {}) {
      const response = await fetch(base + path, {
        method: body === undefined ? "GET" : "POST",
        redirect: "manual",
        headers: {
          ...cookieHeader(browser.cookies),
          ...(browser.sessionKey === undefined ? {} : { [SESSION_KEY_HEADER]: browser.sessionKey }),
          ...(body === undefined ? {} : { "content-type": "application/json", origin: base }),
          "sec-fetch-site": "same-origin",
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      store(browser.cookies, response);
      return response;
    },
    async startOidc(body = {}) {
      const response = await browser.request("/api/login/oidc", { body });
      const answer: unknown = await response.json();
      const url = getField(answer, "url");
      if (typeof url === "string") return url;
      throw new Error(`${response.status} ${JSON.stringify(answer)}`);
    },
    async arrive(url) {
      const { pathname, search } = new URL(url);
      const headers = { ...cookieHeader(browser.cookies), "sec-fetch-site": "cross-site" };
      const response = await fetch(base + pathname + search, { redirect: "manual", headers });
      store(browser.cookies, response);
      return new URL(response.headers.get("location") ?? "about:blank", base);
    },
    async redeem({ hash }) {
      const secret = /^#sign-in=(.+)$/.exec(hash)?.[1];
      if (secret === undefined) throw new Error(`the address has no secret: ${hash}`);
      const response = await browser.request("/api/login", { body: { token: secret } });
      if (response.ok) browser.sessionKey = String(getField(await response.json(), "sessionKey"));
      return response.status;
    },
  };
  return browser;
}

function cookieHeader(cookies: ReadonlyMap<string, string>): Record<string, string> {
  return cookies.size === 0
    ? {}
    : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
}

function store(cookies: Map<string, string>, response: Response): void {
  for (const line of response.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/Max-Age=0\b/.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
}

function getField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
