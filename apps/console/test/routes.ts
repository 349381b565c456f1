/** The table of responses of the fake gateway. */

export interface ApiRequest {
  readonly url: URL;
  /** The segments of the path that match `*`, decoded. */
  readonly params: readonly string[];
  readonly body: unknown;
}

/**
 * Responses by method and path, for instance `GET /api/schedules` or `POST /api/schedules/*\/run`. A response is a
 * body, or a function that returns a body or undefined (204), or throws a {@link Refusal}.
 */
export type Routes = Record<string, object | ((request: ApiRequest) => unknown)>;

/** An error response. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly remedy: string | undefined;

  constructor(status: number, code: string, message: string, remedy?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.remedy = remedy;
  }
}

/** Finds the response for a request. Later entries win, so a test can replace one. */
export function findRoute(
  routes: Routes,
  method: string,
  pathname: string,
): { route: Routes[string]; params: string[] } | undefined {
  for (const [key, route] of Object.entries(routes).toReversed()) {
    const [wantedMethod, wantedPath = ""] = key.split(" ");
    const pattern = new RegExp(`^${wantedPath.replaceAll("*", "([^/]+)")}$`);
    const match = wantedMethod === method ? pattern.exec(pathname) : null;
    if (match !== null) return { route, params: match.slice(1).map(decodeURIComponent) };
  }
  return undefined;
}
