import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import type { Context, Handler } from "hono";
import { apiErrors } from "./api/errors.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".webmanifest": "application/manifest+json",
};

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
};

/** Forms in which a build may have laid a file down beside itself, the smallest first. */
const COMPRESSED = [
  { coding: "br", extension: ".br" },
  { coding: "gzip", extension: ".gz" },
];

/**
 * Serves the files of a page, compressed where they lie there like that and the browser takes it. They are listed once,
 * so that no path of a request ever reaches the file system, and read when asked for.
 */
export function pageFiles(dir: string): Handler {
  let files: Map<string, string> | undefined;
  return (context: Context) => {
    files ??= list(dir);
    const path = context.req.path === "/" ? "/index.html" : context.req.path;
    const plain = files.get(path);
    if (plain === undefined) return apiErrors.notFound(context);
    const accepted = codingsOf(context.req.header("accept-encoding"));
    const smallest = COMPRESSED.find(
      ({ coding, extension }) => accepted.has(coding) && files?.has(path + extension),
    );
    const file = (smallest && files.get(path + smallest.extension)) ?? plain;
    const hashed = path.startsWith("/assets/");
    return context.body(new Uint8Array(readFileSync(file)), 200, {
      ...PAGE_HEADERS,
      "content-type": TYPES[extname(plain)] ?? "application/octet-stream",
      "cache-control": hashed ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
      ...(smallest && { "content-encoding": smallest.coding }),
    });
  };
}

/** What a browser takes, but for what it refuses by a weight of nothing. */
function codingsOf(header = ""): ReadonlySet<string> {
  const offers = header.toLowerCase().split(",");
  return new Set(
    offers.filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each)).map((each) => each.replace(/;.*/, "").trim()),
  );
}

function list(dir: string, prefix = ""): Map<string, string> {
  const files = new Map<string, string>();
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return files;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = `${prefix}/${entry.name}`;
    if (entry.isFile()) files.set(path, join(dir, entry.name));
    else if (entry.isDirectory())
      for (const [name, file] of list(join(dir, entry.name), path)) files.set(name, file);
  }
  return files;
}
