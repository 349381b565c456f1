import { isAbsolute, relative } from "node:path";
import { createOutsideError, HiddenPlaceError, toWorkspaceError, WorkspaceError } from "./errors.ts";
import { fold, isInside } from "./paths.ts";
import { findRoot, type Place, type Root, splitPath, type WalkOptions, walk } from "./walk.ts";

interface PathResolverOptions {
  /** The agent's folder. Relative paths start here. */
  readonly home: Root;
  /** Further readable folders. */
  readonly readable: readonly Root[];
  readonly forbidden: readonly string[];
  readonly walk: WalkOptions;
}

const MAX_PATH_CHARS = 4_096;

/** Resolves workspace paths. They never lead out of the workspace's folders or into closed paths. */
export class PathResolver {
  readonly #options: PathResolverOptions;
  readonly #home: Root;
  readonly #roots: readonly Root[];
  readonly #forbidden: readonly string[];
  readonly #walk: WalkOptions;

  constructor(options: PathResolverOptions) {
    const { home, readable, forbidden, walk } = options;
    this.#options = options;
    this.#home = home;
    this.#roots = [home, ...readable];
    this.#forbidden = forbidden.map(fold);
    this.#walk = walk;
  }

  /**
   * Returns a resolver that hides paths.
   *
   * @param isVisible receives a path in the form in which the agent would write it, with links resolved
   */
  restrict(isVisible: (displayPath: string) => boolean): PathResolver {
    const walk = { ...this.#walk, isVisible: (path: string) => isVisible(this.displayPath(path)) };
    return new PathResolver({ ...this.#options, walk });
  }

  /** Resolves a path. The caller must close the returned place. */
  async open(path: string, extra: WalkOptions = {}): Promise<Place> {
    const { root, parts } = this.#start(path);
    const place = await walk(this.#roots, root, parts, { ...this.#walk, ...extra }).catch(
      (error: unknown) => {
        throw toWorkspaceError(error, path);
      },
    );
    try {
      this.assertOpen(place, path);
      return place;
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  /** Resolves a path, calls `use` with the place, and closes it. */
  async use<T>(path: string, use: (place: Place) => Promise<T> | T, extra?: WalkOptions): Promise<T> {
    const place = await this.open(path, extra);
    try {
      return await use(place);
    } catch (error) {
      throw toWorkspaceError(error, path);
    } finally {
      await place.close();
    }
  }

  /** Resolves a path that may not exist, and returns it in the form in which the agent would write it. */
  async locate(path: string): Promise<string> {
    const { root, parts } = this.#start(path);
    // Missing components have no links, so the existing components determine the location of the rest.
    for (let existing = parts.length; existing >= 0; existing--) {
      try {
        const place = await walk(this.#roots, root, parts.slice(0, existing), this.#walk);
        await place.close();
        this.assertOpen(place, path);
        const rest = parts.slice(existing);
        if (rest.includes("..")) throw new WorkspaceError("not_found", `A folder in ${path} does not exist.`);
        return this.#locateVisible([place.path, ...rest.filter((part) => part !== ".")].join("/"), path);
      } catch (error) {
        const isMissing = error instanceof WorkspaceError && error.code === "not_found";
        if (existing === 0 || !isMissing || error instanceof HiddenPlaceError)
          throw toWorkspaceError(error, path);
      }
    }
    throw createOutsideError(path);
  }

  /** @throws HiddenPlaceError */
  #locateVisible(place: string, original: string): string {
    if (this.#walk.isVisible?.(place) === false) throw new HiddenPlaceError(original);
    return this.displayPath(place);
  }

  /**
   * Throws if tools may not use a place.
   *
   * @param original the path as the agent wrote it, for the message
   * @throws WorkspaceError `forbidden`
   */
  assertOpen(place: Pick<Place, "path" | "root">, original: string): void {
    const path = fold(place.path);
    const root = fold(place.root.real);
    if (this.#forbidden.some((each) => isInside(path, each) && !isInside(root, each)))
      throw new WorkspaceError("forbidden", `${original} belongs to the gateway and is closed to tools.`);
  }

  displayPath(path: string): string {
    const dir = this.#home.real;
    if (!isInside(path, dir)) return path;
    const short = relative(dir, path);
    return short === "" ? "." : short;
  }

  #start(path: string): { readonly root: Root; readonly parts: readonly string[] } {
    if (path === "") throw new WorkspaceError("bad_path", "The path is empty.");
    if (path.includes("\0")) throw new WorkspaceError("bad_path", "The path contains a NUL character.");
    if (path.length > MAX_PATH_CHARS) throw new WorkspaceError("bad_path", "The path is too long.");
    if (!isAbsolute(path)) return { root: this.#home, parts: splitPath(path) };
    const inRoot = findRoot(this.#roots, path);
    if (inRoot === undefined) throw createOutsideError(path);
    return inRoot;
  }
}
