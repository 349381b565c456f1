import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { refuseUnsigned, type S3Credentials, type S3Refusal } from "./signature.ts";

export interface S3Options extends Partial<S3Credentials> {
  /** The only bucket. Default: `files`. */
  readonly bucket?: string;
  /** Maximum number of keys in one list. Default: 1,000, as S3 has it. */
  readonly pageSize?: number;
}

/** A fake S3 server with one bucket, which is addressed by path. */
export interface FakeS3 extends S3Credentials {
  readonly url: string;
  readonly bucket: string;
  /** The keys of all objects, in order. */
  keys(): readonly string[];
  /** The codes of all requests that were refused. */
  readonly refused: readonly string[];
  /** Requests are refused with 503 while this is true. */
  isDown: boolean;
  stop(): Promise<void>;
}

interface StoredObject {
  readonly body: Buffer;
  readonly at: Date;
}

const MAX_KEY_BYTES = 1_024;
const MAX_KEYS = 1_000;

/**
 * Starts a server with `PutObject`, `GetObject`, `HeadBucket`, `ListObjectsV2` and `DeleteObject`. It verifies each
 * signature.
 */
export async function startS3({
  bucket = "files",
  pageSize = MAX_KEYS,
  accessKeyId = "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region = "eu-central-1",
}: S3Options = {}): Promise<FakeS3> {
  const credentials = { accessKeyId, secretAccessKey, region };
  const objects = new Map<string, StoredObject>();
  const refused: string[] = [];
  const state = { isDown: false };
  const keys = (): string[] => [...objects.keys()].sort(compareBytes);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { method = "GET", url = "/", headers } = request;
    const refuse = ({ status, code }: S3Refusal): void => {
      refused.push(code);
      reply(response, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
    };
    if (state.isDown) return refuse({ status: 503, code: "SlowDown" });
    const refusal = refuseUnsigned({ method, url, headers, body }, credentials);
    if (refusal !== undefined) return refuse(refusal);
    const { pathname, searchParams } = new URL(url, "http://s3.invalid");
    const [, name, ...parts] = pathname.split("/");
    if (name !== bucket) return refuse({ status: 404, code: "NoSuchBucket" });
    const key = decodeURIComponent(parts.join("/"));
    if (key === "") {
      if (method === "HEAD") return reply(response, 200, "");
      if (method === "GET" && searchParams.get("list-type") === "2") return list(response, searchParams);
      return refuse({ status: 501, code: "NotImplemented" });
    }
    if (Buffer.byteLength(key) > MAX_KEY_BYTES) return refuse({ status: 400, code: "KeyTooLongError" });
    switch (method) {
      case "PUT": {
        if (headers["content-length"] === undefined)
          return refuse({ status: 411, code: "MissingContentLength" });
        objects.set(key, { body, at: new Date() });
        const etag = `"${createHash("md5").update(body).digest("hex")}"`;
        return reply(response, 200, "", { etag });
      }
      case "GET": {
        const stored = objects.get(key);
        if (stored === undefined) return refuse({ status: 404, code: "NoSuchKey" });
        response.writeHead(200, {
          "content-length": stored.body.byteLength,
          "last-modified": stored.at.toUTCString(),
        });
        response.end(stored.body);
        return;
      }
      case "DELETE":
        objects.delete(key);
        return reply(response, 204, "");
      default:
        return refuse({ status: 405, code: "MethodNotAllowed" });
    }
  }

  function list(response: ServerResponse, query: URLSearchParams): void {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token") ?? "";
    const found = keys().filter((key) => key.startsWith(prefix) && compareBytes(key, after) > 0);
    const page = found.slice(0, Math.min(Number(query.get("max-keys") ?? MAX_KEYS), pageSize));
    const isTruncated = page.length < found.length;
    const contents = page.map((key) => {
      const { body, at } = objects.get(key) ?? { body: Buffer.of(), at: new Date(0) };
      return `<Contents><Key>${escapeXml(key)}</Key><LastModified>${at.toISOString()}</LastModified><Size>${body.byteLength}</Size></Contents>`;
    });
    const next = isTruncated
      ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? "")}</NextContinuationToken>`
      : "";
    reply(
      response,
      200,
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`,
    );
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server on a TCP port has this address.
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    ...credentials,
    url: `http://127.0.0.1:${port}`,
    bucket,
    keys,
    refused,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** S3 sorts keys by their UTF-8 bytes. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function reply(
  response: ServerResponse,
  status: number,
  xml: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const type = xml === "" ? {} : { "content-type": "application/xml" };
  response.writeHead(status, { ...type, ...headers });
  response.end(xml);
}
