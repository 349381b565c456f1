const CAUSES: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name cannot be resolved",
  EAI_AGAIN: "the name cannot be resolved",
  ECONNREFUSED: "the connection is refused",
  ECONNRESET: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to it",
  ETIMEDOUT: "no response in time",
  UND_ERR_CONNECT_TIMEOUT: "no response in time",
  UND_ERR_HEADERS_TIMEOUT: "no response in time",
};

/**
 * Describes a failed `fetch` by its code, because messages can contain the URL with a token.
 *
 * @returns such as `the name cannot be resolved (ENOTFOUND)`, or `undefined` if the error has no code of a connection
 */
export function describeFailedRequest(error: unknown): string | undefined {
  const chain = getChain(error);
  const codes = chain.flatMap((one) => ("code" in one && typeof one.code === "string" ? [one.code] : []));
  const known = codes.find((code) => Object.hasOwn(CAUSES, code));
  if (known !== undefined) return `${CAUSES[known]} (${known})`;
  if (chain.some(({ name }) => name === "TimeoutError")) return "no response in time";
  const tls = codes.find((code) => /CERT|TLS|SSL/.test(code));
  return tls === undefined ? undefined : `no secure connection (${tls})`;
}

/** Returns an error with its causes, and the first of several errors, for instance one for each address of a host. */
function getChain(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return [];
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return [error, ...getChain(inner)];
}
